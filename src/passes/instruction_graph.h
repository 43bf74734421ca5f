// The compiler's own form of a program: instructions of ranks, their dependences, and the messages
// between them. Flat arrays and 32-bit ids; no node owns a node.
//
// A node is one instruction of one rank, in parts (chunks cut into as many parts as there are
// instances). Nodes are numbered in trace order, and a message's sender before its receiver, so
// that node order is a topological order of dependences and messages together: every pass that
// needs one walks the array forwards or backwards.
//
// Fusing does not move anything. A receive X that has absorbed the send Y keeps its number; Y
// becomes inactive and `absorbed_into[Y] == X`. Dependence lists keep naming Y; readers resolve().
// Y's only dependence was X (fuse.h), so every edge into the fused node is an edge into X, node
// order stays topological, and unfuse() is exact.
//
// From schedule on, nodes are numbered rank by rank in the order in which they run, and absorbed
// ones are gone (number_by_rank.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/collective.h"
#include "ir/trace.h"
#include "support/big_vector.h"

namespace hocket::passes {

using NodeId = std::uint32_t;
using MessageId = std::uint32_t;
using ConnectionId = std::uint32_t;
using BlockId = std::uint32_t;  // a threadblock, numbered over the whole program
inline constexpr std::uint32_t kNone = 0xffffffffu;

struct Node {
  OpCode op = OpCode::nop;
  bool active = true;
  std::uint16_t instance = 0;
  std::int32_t rank = 0;
  std::uint32_t src_buffer = 0;  // the local operand; trace buffer numbers
  std::int32_t src_index = 0;    // parts
  std::uint32_t dst_buffer = 0;
  std::int32_t dst_index = 0;
  std::int32_t count = 1;  // parts
  MessageId in = kNone;
  MessageId out = kNone;
  std::int32_t manual_tb = -1;
  std::int32_t channel = -1;  // as the program said
  std::uint32_t site = 0;
};

struct Message {
  NodeId send = kNone;  // the active node that sends it
  NodeId recv = kNone;
  std::int32_t channel = -1;        // set by assign_channels
  ConnectionId connection = kNone;  // set by assign_channels
};

// A directed FIFO between two ranks.
struct Connection {
  std::int32_t src = 0;
  std::int32_t dst = 0;
  std::int32_t channel = 0;
  std::uint32_t instance = 0;
  BlockId send_block = kNone;
  BlockId recv_block = kNone;
};

struct Block {
  std::int32_t rank = 0;
  std::int32_t send = -1;
  std::int32_t recv = -1;
  std::int32_t channel = 0;
  std::uint32_t instance = 0;
};

// What the receiver of a message does not do itself, because the target cannot.
struct Lowering {
  bool receive_reduce = true;  // rrc exists; otherwise r into a scratch part, then re
  bool fused_send = true;      // rcs, rrs, rrcs exist
  std::int32_t max_count = 1 << 30;
};

// Nodes of consecutive numbers.
class NodeRange {
 public:
  class Iterator {
   public:
    explicit Iterator(NodeId at) : at_(at) {}
    NodeId operator*() const { return at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    NodeId at_;
  };

  NodeRange(NodeId first, NodeId end) : first_(first), end_(end) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(end_); }
  std::size_t size() const { return end_ - first_; }

 private:
  NodeId first_;
  NodeId end_;
};

struct Graph {
  const Trace* trace = nullptr;
  std::int32_t parts = 1;  // of a chunk
  std::uint32_t num_instances = 1;
  std::uint32_t num_buffers =
      kFirstScratch;  // trace buffers, and one more of our own where lowering needs it
  BigVector<Node> nodes;
  BigVector<Message> messages;
  BigVector<std::uint32_t> first_pred = {0};  // CSR over nodes
  BigVector<NodeId> preds;

  // Of the value that a receiving node writes: how many nodes read it, and how many of its parts
  // are overwritten or not wanted at the end. Filled by expand, read by fuse.
  BigVector<std::uint32_t> readers;
  BigVector<std::uint32_t> dead_parts;

  BigVector<NodeId> absorbed;       // of a fused receive: the send it absorbed; kNone
  BigVector<NodeId> absorbed_into;  // of an absorbed send: the receive; itself otherwise

  std::int32_t num_channels = 0;
  BigVector<Connection> connections;
  BigVector<NodeId> order;  // the global order, active nodes only

  // Nodes of rank r are first_of_rank[r] to first_of_rank[r + 1] - 1, in the order in which they
  // run: set by schedule.
  BigVector<NodeId> first_of_rank;

  // Threadblocks, those of a rank together, and their nodes in execution order: set by
  // assign_threadblocks.
  BigVector<Block> blocks;
  BigVector<BlockId> first_block_of_rank;   // by rank, and the end
  BigVector<std::uint32_t> first_of_block;  // CSR over blocks
  BigVector<NodeId> block_nodes;
  BigVector<BlockId> block_of;        // of a node
  BigVector<std::uint32_t> position;  // of a node in its block

  // Waits of each node on nodes of other blocks of its rank: CSR, set by synchronize.
  BigVector<std::uint32_t> first_wait;
  BigVector<NodeId> waits;

  // Scratch parts of each rank, and where each (rank, buffer, index) lies: set by layout_scratch.
  std::vector<std::int32_t> scratch_parts;

  std::span<const NodeId> preds_of(NodeId n) const {
    return {preds.data() + first_pred[n], first_pred[n + 1] - first_pred[n]};
  }
  std::span<const NodeId> waits_of(NodeId n) const {
    return {waits.data() + first_wait[n], first_wait[n + 1] - first_wait[n]};
  }
  NodeRange nodes_of_rank(std::size_t rank) const {
    return {first_of_rank[rank], first_of_rank[rank + 1]};
  }
  std::span<const NodeId> nodes_of_block(BlockId b) const {
    return {block_nodes.data() + first_of_block[b], first_of_block[b + 1] - first_of_block[b]};
  }
  // The number of a block among those of its rank.
  std::uint32_t local_block(BlockId b) const {
    return b - first_block_of_rank[static_cast<std::size_t>(blocks[b].rank)];
  }
  std::uint32_t num_blocks(std::size_t rank) const {
    return first_block_of_rank[rank + 1] - first_block_of_rank[rank];
  }
  // The node that `n` is part of.
  NodeId resolve(NodeId n) const { return absorbed_into.empty() ? n : absorbed_into[n]; }
  std::size_t size() const { return nodes.size(); }

  // Whether the node touches its src / dst operand in local memory.
  static bool reads(const Node& n) { return op_info(n.op).reads_src; }
  static bool writes(const Node& n) { return op_info(n.op).writes_dst; }

  void fuse(NodeId recv, NodeId send, bool value_dead);
  void unfuse(NodeId recv);
};

}  // namespace hocket::passes
