// Steps become nodes that keep their identity while others go; dependences name nodes. Written
// back, a dependence on a node that is gone becomes one on the node before it, and on all that
// those gone in between waited for.
#include "mutation/apply_waste.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace hocket::mutation {
namespace {

struct Node;
struct Dependence {
  std::size_t tb = 0;
  std::size_t node = 0;
  friend auto operator<=>(const Dependence&, const Dependence&) = default;
};

struct Node {
  Step step;
  std::vector<Dependence> waits;
  std::vector<bool> dropped;       // of each wait
  std::vector<std::size_t> carry;  // of each wait: the position of the step that carried it
  bool gone = false;
  bool into_previous = false;  // fused into the node before
};

struct Tb {
  ThreadBlock head;
  std::vector<Node> nodes;
  std::vector<std::size_t> node_of;  // of each step: nops belong to the node that they precede
  bool gone = false;
};

struct Rank {
  RankProgram sizes;
  std::vector<Tb> tbs;
};

class Editor {
 public:
  explicit Editor(const Algorithm& a) : a_(a) {
    for (const RankProgram& rank : a.ranks) ranks_.push_back(read(rank));
  }

  void apply(const Finding& f) {
    const std::string& hint = f.diagnostic.hint;
    switch (f.diagnostic.code) {
      case Code::ImpliedDependence:
      case Code::NeedlessNop: {
        Node& node = at(f.at);
        const auto k =
            std::find(node.carry.begin(), node.carry.end(), static_cast<std::size_t>(f.at.step)) -
            node.carry.begin();
        node.dropped.at(static_cast<std::size_t>(k)) = true;
        break;
      }
      case Code::IdleFlag:
        at(f.at).step.has_dependent = false;
        break;
      case Code::DeadStep: {
        Tb& tb = tb_of(f.at);
        const std::size_t first = tb.node_of.at(static_cast<std::size_t>(f.at.step));
        if (hint.starts_with("drop it")) {
          for (std::size_t k = 0; k < static_cast<std::size_t>(f.saves); ++k) {
            tb.nodes.at(first + k).gone = true;
          }
        } else {
          tb.nodes[first].step.op = op(hint.substr(0, hint.find(' ')));
        }
        break;
      }
      case Code::UnusedScratch:
        renumber(ranks_[static_cast<std::size_t>(f.at.rank)], f.saves);
        break;
      case Code::IdleThreadblock:
        drop_tb(static_cast<int>(f.at.rank), static_cast<std::size_t>(f.at.tb));
        break;
      case Code::ComputedTwice: {
        Step& step = at(f.at).step;
        const std::string& text = f.diagnostic.message;
        const std::size_t start = text.rfind(" left in ") + 9;
        const std::size_t open = text.find('[', start);
        const std::string buffer = text.substr(start, open - start);
        step.op = OpCode::copy;
        step.src_buffer = buffer == "input"    ? BufferKind::input
                          : buffer == "output" ? BufferKind::output
                                               : BufferKind::scratch;
        step.src_offset = std::stoi(text.substr(open + 1));
        break;
      }
      case Code::MissedFusion: {
        Tb& tb = tb_of(f.at);
        const std::size_t first = tb.node_of.at(static_cast<std::size_t>(f.at.step));
        const std::size_t name = std::string("one ").size();
        Node& node = tb.nodes.at(first);
        Node& send = tb.nodes.at(first + 1);
        node.step.op = op(hint.substr(name, hint.find(' ', name) - name));
        node.step.has_dependent = node.step.has_dependent || send.step.has_dependent;
        send.gone = send.into_previous = true;
        break;
      }
      default:
        throw std::logic_error("no code of waste");
    }
  }

  Algorithm done() const {
    Algorithm out = a_;
    out.ranks.clear();
    out.steps.clear();
    out.step_locations.clear();
    for (const Rank& rank : ranks_) write(rank, out);
    return out;
  }

 private:
  static OpCode op(const std::string& name) { return op_from_name(name).value(); }
  Tb& tb_of(StepPlace p) {
    return ranks_.at(static_cast<std::size_t>(p.rank)).tbs.at(static_cast<std::size_t>(p.tb));
  }
  Node& at(StepPlace p) {
    Tb& tb = tb_of(p);
    return tb.nodes.at(tb.node_of.at(static_cast<std::size_t>(p.step)));
  }

  Rank read(const RankProgram& rank) const {
    Rank r;
    r.sizes = rank;
    r.sizes.threadblocks.clear();
    for (const ThreadBlock& head : rank.threadblocks) {
      Tb& tb = r.tbs.emplace_back();
      tb.head = head;
      for (const Step& s : a_.steps_of(head)) {
        tb.node_of.push_back(tb.nodes.size());
        if (s.op == OpCode::nop) continue;
        tb.nodes.emplace_back().step = s;
      }
    }
    for (std::size_t t = 0; t < r.tbs.size(); ++t) {
      const auto steps = a_.steps_of(rank.threadblocks[t]);
      for (std::size_t k = 0; k < steps.size(); ++k) {
        if (steps[k].depend_tb < 0) continue;
        const auto other = static_cast<std::size_t>(steps[k].depend_tb);
        Node& node = r.tbs[t].nodes[r.tbs[t].node_of[k]];
        node.waits.push_back(
            {other, r.tbs[other].node_of[static_cast<std::size_t>(steps[k].depend_step)]});
        node.dropped.push_back(false);
        node.carry.push_back(k);
      }
    }
    return r;
  }

  static void renumber(Rank& rank, std::int64_t saves) {
    std::vector<bool> used(static_cast<std::size_t>(rank.sizes.scratch_chunks), false);
    const auto operands = [&](auto visit) {
      for (Tb& tb : rank.tbs) {
        for (Node& n : tb.nodes) {
          const OpInfo& info = op_info(n.step.op);
          if (info.reads_src && n.step.src_buffer == BufferKind::scratch) {
            visit(n.step.src_offset, n.step.count);
          }
          if (info.writes_dst && n.step.dst_buffer == BufferKind::scratch) {
            visit(n.step.dst_offset, n.step.count);
          }
        }
      }
    };
    operands([&](std::int32_t& offset, std::int32_t count) {
      for (std::int32_t k = 0; k < count; ++k)
        used[static_cast<std::size_t>(offset) + static_cast<std::size_t>(k)] = true;
    });
    if (std::count(used.begin(), used.end(), false) != saves) {
      throw std::logic_error("another number of unused chunks");
    }
    operands([&](std::int32_t& offset, std::int32_t) {
      offset = static_cast<std::int32_t>(std::count(used.begin(), used.begin() + offset, true));
    });
    rank.sizes.scratch_chunks -= static_cast<std::int32_t>(saves);
  }

  void drop_tb(int rank, std::size_t t) {
    Tb& tb = ranks_[static_cast<std::size_t>(rank)].tbs[t];
    tb.gone = true;
    for (const int peer : {tb.head.send, tb.head.recv}) {
      if (peer < 0) continue;
      for (Tb& other : ranks_[static_cast<std::size_t>(peer)].tbs) {
        if (other.head.channel != tb.head.channel) continue;
        if (peer == tb.head.send && other.head.recv == rank) other.head.recv = -1;
        if (peer == tb.head.recv && other.head.send == rank) other.head.send = -1;
      }
    }
  }

  // What waiting for a node means now; nodes of tb `from` are no news to it.
  static void resolve(const Rank& rank, Dependence d, std::vector<Dependence>& out) {
    const Tb& tb = rank.tbs[d.tb];
    for (std::size_t n = d.node;; --n) {
      const Node& node = tb.nodes[n];
      if (!node.gone) {
        out.push_back({d.tb, n});
        return;
      }
      for (std::size_t k = 0; k < node.waits.size(); ++k) {
        if (!node.dropped[k]) resolve(rank, node.waits[k], out);
      }
      if (n == 0) return;
    }
  }

  static void write(const Rank& rank, Algorithm& out) {
    // What everybody waits for; then where each node comes to stand; then the steps.
    std::vector<std::vector<std::vector<Dependence>>> waits(rank.tbs.size());
    std::vector<std::vector<std::size_t>> position(rank.tbs.size());
    std::vector<std::vector<bool>> awaited(rank.tbs.size());
    for (std::size_t t = 0; t < rank.tbs.size(); ++t) {
      awaited[t].assign(rank.tbs[t].nodes.size(), false);
    }
    for (std::size_t t = 0; t < rank.tbs.size(); ++t) {
      std::vector<Dependence> inherited;
      std::size_t next = 0;
      for (const Node& node : rank.tbs[t].nodes) {
        std::vector<Dependence>& mine = waits[t].emplace_back();
        for (std::size_t k = 0; k < node.waits.size(); ++k) {
          if (node.dropped[k]) continue;
          // As it was, where nothing is gone.
          resolve(rank, node.waits[k], mine);
        }
        if (node.gone) {
          inherited.insert(inherited.end(), mine.begin(), mine.end());
          position[t].push_back(next);
          continue;
        }
        mine.insert(mine.begin(), inherited.begin(), inherited.end());
        if (!inherited.empty()) {
          std::sort(mine.begin(), mine.end());
          mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
          std::erase_if(mine, [&](const Dependence& d) { return d.tb == t; });
        }
        inherited.clear();
        for (const Dependence& d : mine) awaited[d.tb][d.node] = true;
        next += mine.empty() ? 0 : mine.size() - 1;
        position[t].push_back(next++);
      }
    }
    std::vector<int> id;
    int ids = 0;
    for (const Tb& tb : rank.tbs) id.push_back(tb.gone ? -1 : ids++);
    RankProgram& program = out.ranks.emplace_back(rank.sizes);
    for (std::size_t t = 0; t < rank.tbs.size(); ++t) {
      const Tb& tb = rank.tbs[t];
      if (tb.gone) continue;
      ThreadBlock head = tb.head;
      head.first_step = static_cast<std::uint32_t>(out.steps.size());
      bool gap = false;
      std::ptrdiff_t last = -1;
      for (std::size_t n = 0; n < tb.nodes.size(); ++n) {
        const Node& node = tb.nodes[n];
        if (node.gone) {
          gap = true;
          continue;
        }
        // What stood between two reduces kept them apart.
        if (gap && last >= 0) {
          Step& before = out.steps[static_cast<std::size_t>(last)];
          if (before.op == OpCode::reduce && node.step.op == OpCode::reduce) {
            before.has_dependent = true;
          }
        }
        gap = false;
        Step step = node.step;
        step.depend_tb = step.depend_step = -1;
        step.has_dependent = step.has_dependent || awaited[t][n];
        const std::vector<Dependence>& mine = waits[t][n];
        for (std::size_t k = 0; k < mine.size(); ++k) {
          Step carrier = k + 1 == mine.size() ? step : Step{};
          carrier.depend_tb = id[mine[k].tb];
          carrier.depend_step = static_cast<std::int32_t>(position[mine[k].tb][mine[k].node]);
          out.steps.push_back(carrier);
        }
        if (mine.empty()) out.steps.push_back(step);
        last = static_cast<std::ptrdiff_t>(out.steps.size()) - 1;
      }
      head.num_steps = static_cast<std::uint32_t>(out.steps.size()) - head.first_step;
      program.threadblocks.push_back(head);
    }
  }

  const Algorithm& a_;
  std::vector<Rank> ranks_;
};

}  // namespace

Algorithm apply_waste(const Algorithm& algorithm, const std::vector<Finding>& findings) {
  Editor editor(algorithm);
  for (const Finding& f : findings) editor.apply(f);
  return editor.done();
}

}  // namespace hocket::mutation
