// The slots of a program.
#include "lang/slot_store.h"

namespace hocket {

SlotStore::SlotStore(const Collective& collective, const ChunkValues& values) {
  const int ranks = collective.num_ranks();
  first_.reserve(2 * static_cast<std::size_t>(ranks) + 1);
  std::size_t total = 0;
  for (int r = 0; r < ranks; ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      first_.push_back(total);
      // Aliasing covers a buffer or leaves it alone, so its first slot speaks for it.
      const Slot first{kind, 0};
      if (collective.alias(r, first) == first) {
        total += static_cast<std::size_t>(collective.chunks(r, kind));
      }
    }
  }
  first_.push_back(total);
  user_.resize(total);
  for (int r = 0; r < ranks; ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      const View slots = user(r, static_cast<std::uint32_t>(kind));
      for (std::int32_t i = 0; i < slots.size; ++i) {
        const auto origin = collective.initial(r, {kind, i});
        if (origin) slots.slots[i].value = values.origin(*origin);
      }
    }
  }
}

SlotStore::View SlotStore::grow(std::int32_t rank, std::uint32_t buffer, std::int32_t size) {
  if (buffer < kScratch) return user(rank, buffer);
  const auto [entry, is_new] =
      scratch_number_.try_emplace(key(rank, buffer), static_cast<std::uint32_t>(scratch_.size()));
  if (is_new) scratch_.emplace_back();
  std::vector<SlotRecord>& slots = scratch_[entry->second];
  if (slots.size() < static_cast<std::size_t>(size)) slots.resize(static_cast<std::size_t>(size));
  return {slots.data(), static_cast<std::int32_t>(slots.size())};
}

}  // namespace hocket
