// The trace run directly, the graph run node by node, and the two compared.
#include "passes/meaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

namespace hocket::passes {
namespace {

HashKey place(std::int32_t rank, std::uint32_t buffer, std::int32_t index) {
  return {pack(rank, static_cast<std::int32_t>(buffer)), static_cast<std::uint64_t>(index)};
}

std::string name(std::int32_t rank, std::uint32_t buffer, std::int32_t index) {
  return buffer < kFirstScratch
             ? fmt::format("rank {} {}[{}]", rank,
                           buffer_kind_name(static_cast<BufferKind>(buffer)), index)
             : fmt::format("rank {} scratch buffer {}[{}]", rank, buffer - kFirstScratch, index);
}

}  // namespace

Meaning::Meaning(const Trace& trace, std::int32_t parts) : trace_(trace), parts_(parts) {
  fill_inputs();
  run_trace();
}

void Meaning::fill_inputs() {
  const Collective cut = trace_.collective.refined(parts_);
  for (std::int32_t r = 0; r < trace_.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (std::int32_t i = 0; i < cut.chunks(r, kind); ++i) {
        const Slot slot{kind, i};
        if (cut.alias(r, slot) != slot) continue;
        if (const auto origin = cut.initial(r, slot)) {
          initial_[place(r, static_cast<std::uint32_t>(kind), i)] = origin_fingerprint(*origin);
        }
      }
    }
  }
}

// All instances of an operation together are the operation on every part of its chunks.
// Interleaved, those are the parts of the chunk; batched, they lie in the shares of the instances.
void Meaning::run_trace() {
  final_ = initial_;
  const bool batched = trace_.replication == Replication::batched && trace_.instances > 1;
  const std::int32_t shares = batched ? trace_.instances : 1;
  const std::int32_t fine = parts_ / shares;
  std::unordered_map<HashKey, std::int32_t, HashKeyHash> scratch;  // chunks of each
  const auto buffer_key = [](std::int32_t rank, std::uint32_t buffer) {
    return HashKey{static_cast<std::uint64_t>(rank), buffer};
  };
  for (const TraceOp& op : trace_.ops) {
    std::int32_t& src = scratch[buffer_key(op.src_rank, op.src_buffer)];
    src = std::max(src, op.src_index + op.count);
    std::int32_t& dst = scratch[buffer_key(op.dst_rank, op.dst_buffer)];
    dst = std::max(dst, op.dst_index + op.count);
  }
  const auto length = [&](std::int32_t rank, std::uint32_t buffer) {
    return buffer < kFirstScratch ? trace_.collective.chunks(rank, static_cast<BufferKind>(buffer))
                                  : scratch.at(buffer_key(rank, buffer));
  };
  for (const TraceOp& op : trace_.ops) {
    for (std::int32_t share = 0; share < shares; ++share) {
      const std::int32_t from = (share * length(op.src_rank, op.src_buffer) + op.src_index) * fine;
      const std::int32_t to = (share * length(op.dst_rank, op.dst_buffer) + op.dst_index) * fine;
      for (std::int32_t k = 0; k < op.count * fine; ++k) {
        const auto value = final_.find(place(op.src_rank, op.src_buffer, from + k));
        const HashKey target = place(op.dst_rank, op.dst_buffer, to + k);
        if (value == final_.end()) {
          final_.erase(target);
          continue;
        }
        const Fingerprint added = value->second;
        if (op.kind == TraceOp::Kind::copy) {
          final_[target] = added;
        } else {
          final_[target] += added;
        }
      }
    }
  }
}

// One run of a graph. Stops at the first fault.
class Meaning::Run {
 public:
  Run(const Meaning& meaning, const Graph& graph)
      : meaning_(meaning),
        graph_(graph),
        memory_(meaning.initial_),
        sent_(graph.messages.size()),
        queues_(graph.connections.size()) {}

  std::string run() {
    if (graph_.order.empty()) {
      for (NodeId n = 0; n < graph_.size() && fault_.empty(); ++n) {
        if (graph_.nodes[n].active) step(n);
      }
    } else {
      for (const NodeId n : graph_.order) {
        if (fault_.empty()) step(n);
      }
    }
    if (fault_.empty()) compare();
    return std::move(fault_);
  }

 private:
  struct Past {
    NodeId writer = kNone;
    std::vector<NodeId> readers;  // since
  };

  template <typename... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (fault_.empty()) fault_ = fmt::format(format, std::forward<Args>(args)...);
  }

  void step(NodeId n) {
    const Node& node = graph_.nodes[n];
    preds_.clear();
    for (const NodeId p : graph_.preds_of(n)) preds_.push_back(graph_.resolve(p));
    std::vector<Fingerprint> value(static_cast<std::size_t>(node.count));
    if (node.in != kNone) receive(n, value);
    if (Graph::reads(node)) read(n, node.src_buffer, node.src_index, value, node.in != kNone);
    if (op_info(node.op).accumulates) read(n, node.dst_buffer, node.dst_index, value, true);
    // An rrs keeps no sum, but it has the dependences of the rrc that it was, and what follows
    // depends on it alone.
    if (Graph::writes(node) || node.op == OpCode::recv_reduce_send) write(n);
    if (Graph::writes(node)) store(n, value);
    if (node.out != kNone) send(n, value);
  }

  void receive(NodeId n, std::vector<Fingerprint>& value) {
    const Node& node = graph_.nodes[n];
    const Message& message = graph_.messages[node.in];
    if (message.recv != n) fail("instruction {} receives a message that is not its own", n);
    if (sent_[node.in].size() != value.size()) {
      fail("instruction {} receives {} parts before they are sent", n, node.count);
      return;
    }
    value = sent_[node.in];
    if (message.connection == kNone) return;
    std::deque<MessageId>& queue = queues_[message.connection];
    if (queue.empty() || queue.front() != node.in) {
      fail("instruction {} receives a message that is not the oldest of its connection", n);
      return;
    }
    queue.pop_front();
  }

  void send(NodeId n, const std::vector<Fingerprint>& value) {
    const Node& node = graph_.nodes[n];
    const Message& message = graph_.messages[node.out];
    if (message.send != n) fail("instruction {} sends a message that is not its own", n);
    sent_[node.out] = value;
    if (message.connection != kNone) queues_[message.connection].push_back(node.out);
  }

  bool depends_on(NodeId pred) const {
    return std::find(preds_.begin(), preds_.end(), pred) != preds_.end();
  }

  void read(NodeId n, std::uint32_t buffer, std::int32_t index, std::vector<Fingerprint>& value,
            bool add) {
    const Node& node = graph_.nodes[n];
    for (std::int32_t k = 0; k < node.count; ++k) {
      const HashKey where = place(node.rank, buffer, index + k);
      const auto found = memory_.find(where);
      Fingerprint& to = value[static_cast<std::size_t>(k)];
      if (!add) to = {};
      if (found != memory_.end()) to += found->second;
      Past& past = past_[where];
      if (past.writer != kNone && past.writer != n && !depends_on(past.writer)) {
        fail("instruction {} reads {} and does not depend on its writer, {}", n,
             name(node.rank, buffer, index + k), past.writer);
      }
      past.readers.push_back(n);
    }
  }

  void store(NodeId n, const std::vector<Fingerprint>& value) {
    const Node& node = graph_.nodes[n];
    for (std::int32_t k = 0; k < node.count; ++k) {
      memory_[place(node.rank, node.dst_buffer, node.dst_index + k)] =
          value[static_cast<std::size_t>(k)];
    }
  }

  void write(NodeId n) {
    const Node& node = graph_.nodes[n];
    for (std::int32_t k = 0; k < node.count; ++k) {
      Past& past = past_[place(node.rank, node.dst_buffer, node.dst_index + k)];
      bool read_since = false;
      for (const NodeId reader : past.readers) {
        if (reader == n) continue;
        read_since = true;
        if (!depends_on(reader)) {
          fail("instruction {} overwrites {} and does not depend on its reader, {}", n,
               name(node.rank, node.dst_buffer, node.dst_index + k), reader);
        }
      }
      if (!read_since && past.writer != kNone && !depends_on(past.writer)) {
        fail("instruction {} overwrites {} and does not depend on its writer, {}", n,
             name(node.rank, node.dst_buffer, node.dst_index + k), past.writer);
      }
      past.writer = n;
      past.readers.clear();
    }
  }

  void compare() {
    for (MessageId m = 0; m < sent_.size(); ++m) {
      if (sent_[m].empty()) fail("message {} is never sent", m);
    }
    for (const std::deque<MessageId>& queue : queues_) {
      if (!queue.empty()) fail("message {} is never received", queue.front());
    }
    const Collective cut = meaning_.trace_.collective.refined(meaning_.parts_);
    for (std::int32_t r = 0; r < meaning_.trace_.num_ranks(); ++r) {
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        for (std::int32_t i = 0; i < cut.chunks(r, kind); ++i) compare(cut, r, {kind, i});
      }
    }
  }

  void compare(const Collective& cut, std::int32_t rank, Slot slot) {
    if (cut.alias(rank, slot) != slot) return;
    if (cut.has_postcondition() && cut.expected(rank, slot).kind == Expected::Kind::any) return;
    const auto buffer = static_cast<std::uint32_t>(slot.buffer);
    const auto wanted = meaning_.left(rank, slot);
    const auto found = memory_.find(place(rank, buffer, slot.index));
    const bool same =
        wanted ? found != memory_.end() && found->second == *wanted : found == memory_.end();
    if (!same)
      fail("{} does not end with what the program leaves there", name(rank, buffer, slot.index));
  }

  const Meaning& meaning_;
  const Graph& graph_;
  Memory memory_;
  std::vector<std::vector<Fingerprint>> sent_;  // contents of messages
  std::vector<std::deque<MessageId>> queues_;   // of connections
  std::unordered_map<HashKey, Past, HashKeyHash> past_;
  std::vector<NodeId> preds_;
  std::string fault_;
};

std::string Meaning::check(const Graph& graph) const { return Run(*this, graph).run(); }

bool Meaning::implements_collective() const {
  const Collective cut = trace_.collective.refined(parts_);
  for (std::int32_t r = 0; r < trace_.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (std::int32_t i = 0; i < cut.chunks(r, kind); ++i) {
        const Slot slot{kind, i};
        const Expected expected = cut.expected(r, slot);
        if (expected.kind == Expected::Kind::any) continue;
        Fingerprint wanted;
        if (expected.kind == Expected::Kind::one) wanted = origin_fingerprint(expected.origin);
        if (expected.kind == Expected::Kind::all_ranks) {
          for (std::int32_t q = 0; q < trace_.num_ranks(); ++q) {
            wanted += origin_fingerprint({q, expected.origin.index});
          }
        }
        for (const Origin& origin : expected.list) wanted += origin_fingerprint(origin);
        if (left(r, cut.alias(r, slot)) != wanted) return false;
      }
    }
  }
  return true;
}

std::optional<Fingerprint> Meaning::left(std::int32_t rank, Slot slot) const {
  const auto found = final_.find(place(rank, static_cast<std::uint32_t>(slot.buffer), slot.index));
  if (found == final_.end()) return std::nullopt;
  return found->second;
}

}  // namespace hocket::passes
