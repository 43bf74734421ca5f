// Replication, lowering and dependences; see expand.h.
#include "passes/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "hocket/diagnostic.h"
#include "passes/replicas.h"
#include "passes/slot_table.h"

namespace hocket::passes {
namespace {

class Expander {
 public:
  Expander(const Trace& trace, const Lowering& lowering)
      : trace_(trace), lowering_(lowering), replicas_(trace), slots_(trace, replicas_.parts()) {
    graph_.trace = &trace;
    graph_.parts = replicas_.parts();
    graph_.num_instances = replicas_.num_instances();
    staging_buffer_ = kFirstScratch + static_cast<std::uint32_t>(trace.scratch_names.size());
    graph_.num_buffers = staging_buffer_ + (lowering.receive_reduce ? 0 : 1);
    if (!lowering.receive_reduce) {
      staging_used_.assign(static_cast<std::size_t>(trace.num_ranks()), 0);
    }
  }

  Graph run() {
    // Exact but for runs that are cut and reduces that are staged.
    std::size_t messages = 0;
    std::size_t nodes = 0;
    for (const TraceOp& op : trace_.ops) {
      const auto copies = static_cast<std::size_t>(replicas_.copies(op));
      const bool remote = op.src_rank != op.dst_rank;
      messages += remote ? copies : 0;
      nodes += remote ? 2 * copies : copies;
    }
    graph_.messages.reserve(messages);
    graph_.nodes.reserve(nodes);
    graph_.first_pred.reserve(nodes + 1);
    graph_.readers.reserve(nodes);
    graph_.dead_parts.reserve(nodes);
    last_reader_.reserve(nodes);
    for (std::size_t i = 0; i < trace_.ops.size(); ++i) expand_op(i);
    mark_unwanted_at_end();
    const std::size_t n = graph_.nodes.size();
    HOCKET_CHECK(n < kNone, "node numbers fit 32 bits");
    graph_.absorbed.assign(n, kNone);
    graph_.absorbed_into.resize(n);
    std::iota(graph_.absorbed_into.begin(), graph_.absorbed_into.end(), 0u);
    return std::move(graph_);
  }

 private:
  void expand_op(std::size_t i) {
    const TraceOp& op = trace_.ops[i];
    for (int k = 0; k < replicas_.copies(op); ++k) {
      const Share share = replicas_.share(op, k);
      for (std::int32_t done = 0; done < share.count; done += lowering_.max_count) {
        Share piece = share;
        piece.src_index += done;
        piece.dst_index += done;
        piece.count = std::min(lowering_.max_count, share.count - done);
        if (op.src_rank == op.dst_rank) {
          local(i, op, piece);
        } else {
          remote(i, op, piece);
        }
      }
    }
    if (graph_.nodes.size() > kNone / 2) {
      throw Error(Code::TooLarge,
                  fmt::format("the program has more than {} instructions", kNone / 2), trace_.where,
                  "use fewer instances or fewer chunks");
    }
  }

  Node blank(const TraceOp& op, const Share& share) const {
    Node node;
    node.count = share.count;
    node.instance = share.instance;
    node.channel = op.channel;
    node.site = op.site;
    return node;
  }

  void local(std::size_t i, const TraceOp& op, const Share& share) {
    Node node = blank(op, share);
    node.op = op.kind == TraceOp::Kind::copy ? OpCode::copy : OpCode::reduce;
    node.rank = op.src_rank;
    node.src_buffer = op.src_buffer;
    node.src_index = share.src_index;
    node.dst_buffer = op.dst_buffer;
    node.dst_index = share.dst_index;
    node.manual_tb = op.send_tb;
    begin();
    read(slots_.src_region(i), share.src_index, share.count);
    if (node.op == OpCode::reduce) read(slots_.dst_region(i), share.dst_index, share.count);
    write(slots_.dst_region(i), share.dst_index, share.count);
    add(node);
  }

  void remote(std::size_t i, const TraceOp& op, const Share& share) {
    const auto message = static_cast<MessageId>(graph_.messages.size());
    graph_.messages.emplace_back();

    Node send = blank(op, share);
    send.op = OpCode::send;
    send.rank = op.src_rank;
    send.src_buffer = op.src_buffer;
    send.src_index = share.src_index;
    send.manual_tb = op.send_tb;
    send.out = message;
    begin();
    read(slots_.src_region(i), share.src_index, share.count);
    graph_.messages[message].send = add(send);

    Node recv = blank(op, share);
    recv.rank = op.dst_rank;
    recv.dst_buffer = op.dst_buffer;
    recv.dst_index = share.dst_index;
    recv.manual_tb = op.recv_tb;
    recv.in = message;
    if (op.kind == TraceOp::Kind::reduce && !lowering_.receive_reduce) {
      staged_reduce(i, op, share, recv);
      return;
    }
    begin();
    recv.op = OpCode::recv;
    if (op.kind == TraceOp::Kind::reduce) {
      recv.op = OpCode::recv_reduce_copy;
      recv.src_buffer = op.dst_buffer;
      recv.src_index = share.dst_index;
      read(slots_.dst_region(i), share.dst_index, share.count);
    }
    write(slots_.dst_region(i), share.dst_index, share.count);
    graph_.messages[message].recv = add(recv);
  }

  // r into parts of our own that nothing else uses, then re. The staging parts need no slots: each
  // is written once and read once, by the next node.
  void staged_reduce(std::size_t i, const TraceOp& op, const Share& share, Node recv) {
    std::int32_t& used = staging_used_[static_cast<std::size_t>(op.dst_rank)];
    recv.op = OpCode::recv;
    recv.dst_buffer = staging_buffer_;
    recv.dst_index = used;
    used += share.count;
    begin();
    const NodeId received = add(recv);
    graph_.messages[recv.in].recv = received;

    Node node = blank(op, share);
    node.op = OpCode::reduce;
    node.rank = op.dst_rank;
    node.src_buffer = staging_buffer_;
    node.src_index = recv.dst_index;
    node.dst_buffer = op.dst_buffer;
    node.dst_index = share.dst_index;
    node.manual_tb = op.recv_tb;
    begin();
    current_.push_back(received);
    read(slots_.dst_region(i), share.dst_index, share.count);
    write(slots_.dst_region(i), share.dst_index, share.count);
    add(node);
  }

  // Collects the dependences of the node about to be added.
  void begin() { current_.clear(); }

  NodeId next() const { return static_cast<NodeId>(graph_.nodes.size()); }

  void read(std::uint32_t region, std::int32_t index, std::int32_t count) {
    for (std::int32_t k = 0; k < count; ++k) {
      PartState& slot = slots_.at(region, index + k);
      if (slot.last_writer != kNone) {
        current_.push_back(slot.last_writer);
        if (last_reader_[slot.last_writer] != next()) {
          last_reader_[slot.last_writer] = next();
          ++graph_.readers[slot.last_writer];
        }
      }
      slots_.add_reader(slot, next());
    }
  }

  void write(std::uint32_t region, std::int32_t index, std::int32_t count) {
    for (std::int32_t k = 0; k < count; ++k) {
      PartState& slot = slots_.at(region, index + k);
      bool read_since = false;
      slots_.take_readers(slot, [&](NodeId reader) {
        if (reader == next()) return;
        read_since = true;
        current_.push_back(reader);
      });
      if (slot.last_writer != kNone) {
        if (!read_since) current_.push_back(slot.last_writer);
        ++graph_.dead_parts[slot.last_writer];
      }
      slot.last_writer = next();
    }
  }

  NodeId add(const Node& node) {
    const NodeId id = next();
    std::sort(current_.begin(), current_.end());
    current_.erase(std::unique(current_.begin(), current_.end()), current_.end());
    graph_.preds.insert(graph_.preds.end(), current_.begin(), current_.end());
    graph_.first_pred.push_back(static_cast<std::uint32_t>(graph_.preds.size()));
    graph_.nodes.push_back(node);
    graph_.readers.push_back(0);
    graph_.dead_parts.push_back(0);
    last_reader_.push_back(kNone);
    return id;
  }

  // What lies in a slot at the end is wanted where the postcondition names the slot, or might.
  void mark_unwanted_at_end() {
    const Collective& collective = trace_.collective;
    slots_.for_each_region(
        [&](std::int32_t rank, std::uint32_t buffer, std::uint32_t region, std::int32_t length) {
          for (std::int32_t index = 0; index < length; ++index) {
            const PartState& slot = slots_.at(region, index);
            if (slot.last_writer == kNone) continue;
            if (buffer < kFirstScratch) {
              if (!collective.has_postcondition()) continue;
              const Slot place{static_cast<BufferKind>(buffer), index / graph_.parts};
              if (collective.expected(rank, place).kind != Expected::Kind::any) continue;
            }
            ++graph_.dead_parts[slot.last_writer];
          }
        });
  }

  const Trace& trace_;
  const Lowering& lowering_;
  Replicas replicas_;
  SlotTable slots_;
  Graph graph_;
  std::uint32_t staging_buffer_ = 0;
  BigVector<std::int32_t> staging_used_;  // parts, by rank
  BigVector<NodeId> current_;
  BigVector<NodeId> last_reader_;  // of each node's value
};

}  // namespace

Graph expand(const Trace& trace, const Lowering& lowering) {
  return Expander(trace, lowering).run();
}

}  // namespace hocket::passes
