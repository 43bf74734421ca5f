// What every slot of every rank holds now and who wrote it last.
//
// Input and output lie in one flat array; so do scratch buffers, of which a rank has only those
// that were written there, found by open addressing: a large program has as many of them as
// operations, most one slot long. Names are canonical: an aliased buffer has no slots of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hocket/collective.h"
#include "ir/chunk_values.h"
#include "support/big_vector.h"

namespace hocket {

struct SlotRecord {
  ValueId value = kNothing;
  std::uint32_t writer = 0;  // 1 + the operation's number; 0: there from the start, or nothing
};

class SlotStore {
 public:
  // Filled with the collective's precondition.
  SlotStore(const Collective& collective, const ChunkValues& values);

  struct View {
    SlotRecord* slots = nullptr;
    std::int32_t size = 0;
  };
  // The slots of a buffer of a rank; empty for a scratch buffer that the rank does not have. Valid
  // until the next grow().
  View view(std::int32_t rank, std::uint32_t buffer) {
    return buffer < kScratch ? user(rank, buffer) : scratch(rank, buffer);
  }
  std::int32_t size(std::int32_t rank, std::uint32_t buffer) const {
    return const_cast<SlotStore*>(this)->view(rank, buffer).size;
  }
  SlotRecord at(std::int32_t rank, std::uint32_t buffer, std::int32_t index) const {
    return const_cast<SlotStore*>(this)->view(rank, buffer).slots[index];
  }
  // The same, after making a scratch buffer at least `size` long; new slots hold nothing.
  View grow(std::int32_t rank, std::uint32_t buffer, std::int32_t size);

 private:
  static constexpr std::uint32_t kScratch = 2;
  static std::uint64_t key(std::int32_t rank, std::uint32_t buffer) {
    return std::uint64_t{static_cast<std::uint32_t>(rank)} << 32 | buffer;
  }
  View user(std::int32_t rank, std::uint32_t buffer) {
    const std::size_t i = 2 * static_cast<std::size_t>(rank) + buffer;
    return {user_.data() + first_[i], static_cast<std::int32_t>(first_[i + 1] - first_[i])};
  }
  View scratch(std::int32_t rank, std::uint32_t buffer) {
    const std::uint32_t number = find(key(rank, buffer));
    if (number == kNowhere) return {};
    const Scratch& scratch = scratch_[number];
    return {pool_.data() + scratch.first, scratch.size};
  }

  static constexpr std::uint32_t kNowhere = 0xffffffffu;
  struct Scratch {
    std::uint64_t key = 0;
    std::size_t first = 0;  // into pool_
    std::int32_t size = 0;
    std::int32_t capacity = 0;
  };
  std::uint32_t find(std::uint64_t key) const;
  std::size_t bucket(std::uint64_t key) const;
  void rehash();

  std::vector<std::size_t> first_;  // of (rank, input), (rank, output), ...; one more at the end
  BigVector<SlotRecord> user_;
  BigVector<Scratch> scratch_;
  BigVector<SlotRecord> pool_;      // of all scratch buffers
  BigVector<std::uint32_t> table_;  // numbers of scratch buffers, kNowhere; a power of two
};

}  // namespace hocket
