// Who wrote each part last, and who has read it since: the state of dependence analysis.
//
// A region is one buffer of one rank. Inputs and outputs are numbered rank * 2 + buffer; scratch
// regions follow, by rank and buffer. Regions hold only what the
// trace touches of scratch; nothing is sized by ranks times buffers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/trace.h"
#include "passes/instruction_graph.h"

namespace hocket::passes {

struct PartState {
  NodeId last_writer = kNone;
  std::uint32_t readers = kNone;  // since then; see SlotTable::add_reader
};

class SlotTable {
 public:
  SlotTable(const Trace& trace, std::int32_t parts) {
    const auto ranks = static_cast<std::uint32_t>(trace.num_ranks());
    BigVector<std::int32_t> lengths(std::size_t{ranks} * 2);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      lengths[2 * r] = trace.collective.input_chunks(static_cast<int>(r));
      lengths[2 * r + 1] = trace.collective.output_chunks(static_cast<int>(r));
      owners_.push_back({static_cast<std::int32_t>(r), kInputBuffer});
      owners_.push_back({static_cast<std::int32_t>(r), kOutputBuffer});
    }
    const std::uint32_t first_scratch = ranks * 2;
    const auto key = [](std::int32_t rank, std::uint32_t buffer) {
      return (static_cast<std::uint64_t>(rank) << 32) | buffer;
    };
    BigVector<std::uint64_t>
        scratch;  // sorted and searched: a hash table would be the largest thing here
    for (const TraceOp& op : trace.ops) {
      if (op.src_buffer >= kFirstScratch) scratch.push_back(key(op.src_rank, op.src_buffer));
      if (op.dst_buffer >= kFirstScratch) scratch.push_back(key(op.dst_rank, op.dst_buffer));
    }
    std::sort(scratch.begin(), scratch.end());
    scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
    for (const std::uint64_t k : scratch) {
      owners_.push_back({static_cast<std::int32_t>(k >> 32), static_cast<std::uint32_t>(k)});
    }
    lengths.resize(owners_.size());
    const auto region = [&](std::int32_t rank, std::uint32_t buffer, std::int32_t end) {
      if (buffer < kFirstScratch) return static_cast<std::uint32_t>(rank) * 2 + buffer;
      const auto at = std::lower_bound(scratch.begin(), scratch.end(), key(rank, buffer));
      const auto id = first_scratch + static_cast<std::uint32_t>(at - scratch.begin());
      lengths[id] = std::max(lengths[id], end);
      return id;
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

  // One reader, by far the most usual number, stands in the part itself; more form a list in the
  // pool.
  void add_reader(PartState& part, NodeId node) {
    if (part.readers == kNone) {
      part.readers = node;
    } else if ((part.readers & kListBit) == 0) {
      if (part.readers == node) return;
      part.readers = kListBit | new_cell(node, new_cell(part.readers, kEnd));
    } else if (pool_[part.readers & ~kListBit].node != node) {
      part.readers = kListBit | new_cell(node, part.readers & ~kListBit);
    }
  }

  template <typename F>
  void take_readers(PartState& part, F&& each) {
    if (part.readers == kNone) return;
    if ((part.readers & kListBit) == 0) {
      each(part.readers);
    } else {
      std::uint32_t cell = part.readers & ~kListBit;
      while (cell != kEnd) {
        each(pool_[cell].node);
        const std::uint32_t next = pool_[cell].next;
        pool_[cell].next = free_;
        free_ = cell;
        cell = next;
      }
    }
    part.readers = kNone;
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
  static constexpr std::uint32_t kListBit = 1u << 31;  // node numbers stay below it
  static constexpr std::uint32_t kEnd = kListBit - 1;
  struct Cell {
    NodeId node = kNone;
    std::uint32_t next = kEnd;
  };

  std::uint32_t new_cell(NodeId node, std::uint32_t next) {
    std::uint32_t cell = free_;
    if (cell == kEnd) {
      cell = static_cast<std::uint32_t>(pool_.size());
      pool_.emplace_back();
    } else {
      free_ = pool_[cell].next;
    }
    pool_[cell] = {node, next};
    return cell;
  }

  BigVector<std::pair<std::uint32_t, std::uint32_t>> op_regions_;
  BigVector<std::pair<std::int32_t, std::uint32_t>> owners_;
  BigVector<std::size_t> first_;
  BigVector<PartState> slots_;
  BigVector<Cell> pool_;
  std::uint32_t free_ = kEnd;
};

}  // namespace hocket::passes
