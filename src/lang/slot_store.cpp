// The slots of a program.
#include "lang/slot_store.h"

#include <algorithm>

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

std::size_t SlotStore::bucket(std::uint64_t key) const {
  const std::uint64_t mixed = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed >> 20) & (table_.size() - 1);
}

std::uint32_t SlotStore::find(std::uint64_t key) const {
  if (table_.empty()) return kNowhere;
  for (std::size_t i = bucket(key);; i = (i + 1) & (table_.size() - 1)) {
    if (table_[i] == kNowhere || scratch_[table_[i]].key == key) return table_[i];
  }
}

void SlotStore::rehash() {
  table_.assign(table_.empty() ? 16 : 2 * table_.size(), kNowhere);
  for (std::uint32_t number = 0; number < scratch_.size(); ++number) {
    std::size_t i = bucket(scratch_[number].key);
    while (table_[i] != kNowhere) i = (i + 1) & (table_.size() - 1);
    table_[i] = number;
  }
}

SlotStore::View SlotStore::grow(std::int32_t rank, std::uint32_t buffer, std::int32_t size) {
  if (buffer < kScratch) return user(rank, buffer);
  std::uint32_t number = find(key(rank, buffer));
  if (number == kNowhere) {
    number = static_cast<std::uint32_t>(scratch_.size());
    scratch_.push_back({key(rank, buffer), pool_.size(), 0, 0});
    if (table_.size() < 2 * scratch_.size()) {
      rehash();
    } else {
      std::size_t i = bucket(key(rank, buffer));
      while (table_[i] != kNowhere) i = (i + 1) & (table_.size() - 1);
      table_[i] = number;
    }
  }
  Scratch& scratch = scratch_[number];
  if (scratch.capacity < size) {
    // Moves to the end of the pool, with room to grow; the last one there grows in place.
    const bool last = scratch.first + static_cast<std::size_t>(scratch.capacity) == pool_.size();
    scratch.capacity = std::max(size, last ? 0 : 2 * scratch.capacity);
    const std::size_t first = last ? scratch.first : pool_.size();
    pool_.resize(first + static_cast<std::size_t>(scratch.capacity));
    if (!last) {
      std::copy_n(pool_.begin() + static_cast<std::ptrdiff_t>(scratch.first), scratch.size,
                  pool_.begin() + static_cast<std::ptrdiff_t>(first));
    }
    scratch.first = first;
  }
  scratch.size = std::max(scratch.size, size);
  return {pool_.data() + scratch.first, scratch.size};
}

}  // namespace hocket
