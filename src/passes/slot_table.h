// Who wrote each part last, and who has read it since: the state of dependence analysis.
//
// A region is one buffer of one rank. Inputs and outputs are numbered rank * 2 + buffer; scratch
// regions follow in the order in which the trace first touches them. Regions hold only what the
// trace touches of scratch; nothing is sized by ranks times buffers.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/trace.h"
#include "passes/instruction_graph.h"

namespace hocket::passes {

struct PartState {
  NodeId last_writer = kNone;
  std::uint32_t readers = kNone;  // head of a list in the pool
};

class SlotTable {
 public:
  SlotTable(const Trace& trace, std::int32_t parts) {
    const auto ranks = static_cast<std::uint32_t>(trace.num_ranks());
    std::vector<std::int32_t> lengths(std::size_t{ranks} * 2);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      lengths[2 * r] = trace.collective.input_chunks(static_cast<int>(r));
      lengths[2 * r + 1] = trace.collective.output_chunks(static_cast<int>(r));
      owners_.push_back({static_cast<std::int32_t>(r), kInputBuffer});
      owners_.push_back({static_cast<std::int32_t>(r), kOutputBuffer});
    }
    std::unordered_map<std::uint64_t, std::uint32_t> scratch;
    const auto region = [&](std::int32_t rank, std::uint32_t buffer, std::int32_t end) {
      if (buffer < kFirstScratch) return static_cast<std::uint32_t>(rank) * 2 + buffer;
      const std::uint64_t key = (static_cast<std::uint64_t>(rank) << 32) | buffer;
      const auto [it, fresh] = scratch.try_emplace(key, static_cast<std::uint32_t>(lengths.size()));
      if (fresh) {
        lengths.push_back(0);
        owners_.push_back({rank, buffer});
      }
      if (lengths[it->second] < end) lengths[it->second] = end;
      return it->second;
    };
    op_regions_.reserve(trace.ops.size());
    for (const TraceOp& op : trace.ops) {
      const std::uint32_t src = region(op.src_rank, op.src_buffer, op.src_index + op.count);
      const std::uint32_t dst = region(op.dst_rank, op.dst_buffer, op.dst_index + op.count);
      op_regions_.push_back({src, dst});
    }
    first_.push_back(0);
    for (const std::int32_t length : lengths) {
      first_.push_back(first_.back() +
                       static_cast<std::size_t>(length) * static_cast<std::size_t>(parts));
    }
    slots_.resize(first_.back());
  }

  std::uint32_t src_region(std::size_t op) const { return op_regions_[op].first; }
  std::uint32_t dst_region(std::size_t op) const { return op_regions_[op].second; }
  PartState& at(std::uint32_t region, std::int32_t index) {
    return slots_[first_[region] + static_cast<std::size_t>(index)];
  }

  void add_reader(PartState& slot, NodeId node) {
    if (slot.readers != kNone && pool_[slot.readers].node == node) return;
    std::uint32_t cell = free_;
    if (cell == kNone) {
      cell = static_cast<std::uint32_t>(pool_.size());
      pool_.emplace_back();
    } else {
      free_ = pool_[cell].next;
    }
    pool_[cell] = {node, slot.readers};
    slot.readers = cell;
  }

  template <typename F>
  void take_readers(PartState& slot, F&& each) {
    while (slot.readers != kNone) {
      const std::uint32_t cell = slot.readers;
      each(pool_[cell].node);
      slot.readers = pool_[cell].next;
      pool_[cell].next = free_;
      free_ = cell;
    }
  }

  // each(rank, buffer, region, length in parts)
  template <typename F>
  void for_each_region(F&& each) const {
    for (std::uint32_t region = 0; region < owners_.size(); ++region) {
      each(owners_[region].first, owners_[region].second, region,
           static_cast<std::int32_t>(first_[region + 1] - first_[region]));
    }
  }

 private:
  struct Cell {
    NodeId node = kNone;
    std::uint32_t next = kNone;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> op_regions_;
  std::vector<std::pair<std::int32_t, std::uint32_t>> owners_;
  std::vector<std::size_t> first_;
  std::vector<PartState> slots_;
  std::vector<Cell> pool_;
  std::uint32_t free_ = kNone;
};

}  // namespace hocket::passes
