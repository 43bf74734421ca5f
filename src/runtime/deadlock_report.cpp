// Every threadblock that is left waits for one thing, which one other threadblock would have to do:
// a graph in which each node has one way out. Following it from anywhere ends in a cycle, or at a
// threadblock that has finished without doing it.
#include "runtime/deadlock_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hocket::runtime {
namespace {

constexpr std::size_t kMaxListed = 20;

struct Graph {
  const Plan& plan;
  const Engine& engine;
  const Call& call;

  const PlanThreadBlock& block(std::uint32_t tb) const { return plan.threadblocks[tb]; }
  const Step& step(std::uint32_t tb) const { return plan.step(block(tb), engine.place(tb).step); }
  const PlanConnection& connection(std::int32_t i) const {
    return plan.connections[static_cast<std::size_t>(i)];
  }
  Location where(std::uint32_t tb) const {
    return plan.algorithm.location_of(block(tb).first_step + engine.place(tb).step);
  }

  // The threadblock that would have to act.
  std::uint32_t waits_for(std::uint32_t tb) const {
    switch (engine.place(tb).waits_for) {
      case WaitReason::data:
        return connection(block(tb).in).sender_tb;
      case WaitReason::slot:
        return connection(block(tb).out).receiver_tb;
      default:
        return plan.first_threadblock[static_cast<std::size_t>(block(tb).rank)] +
               static_cast<std::uint32_t>(step(tb).depend_tb);
    }
  }

  std::string who(std::uint32_t tb) const {
    const Place& place = engine.place(tb);
    std::string text =
        fmt::format("{} step {} ({})", plan.name(block(tb)), place.step, op_info(step(tb).op).name);
    if (step(tb).count > call.chunks_per_transfer) {
      text += fmt::format(", {} of {} chunks done,", place.done, step(tb).count);
    }
    return text;
  }

  // What the awaited threadblock does instead.
  std::string state(std::uint32_t tb) const {
    if (engine.place(tb).finished) return "has finished";
    return fmt::format("is at step {} ({})", engine.place(tb).step, op_info(step(tb).op).name);
  }

  std::string reason(std::uint32_t tb) const {
    const std::uint32_t other = waits_for(tb);
    const std::string other_state = fmt::format("{} {}", plan.name(block(other)), state(other));
    switch (engine.place(tb).waits_for) {
      case WaitReason::data: {
        const PlanConnection& c = connection(block(tb).in);
        return fmt::format("waits for data on connection {} -> {} on channel {}; {}", c.sender,
                           c.receiver, c.channel, other_state);
      }
      case WaitReason::slot: {
        const PlanConnection& c = connection(block(tb).out);
        return fmt::format(
            "waits for a free slot on connection {} -> {} on channel {}, whose {} are full; {}",
            c.sender, c.receiver, c.channel, call.slots, other_state);
      }
      default: {
        const auto awaited = static_cast<std::uint32_t>(step(tb).depend_step);
        const Step& of_other = plan.step(block(other), awaited);
        const bool silent = of_other.op == OpCode::nop || !of_other.has_dependent;
        return fmt::format("waits for step {} ({}) of threadblock {}{}; {}", awaited,
                           op_info(of_other.op).name, step(tb).depend_tb,
                           silent ? ", which never says that it is done (has no dependent)" : "",
                           other_state);
      }
    }
  }
};

// The threadblocks of a cycle of waits, in order from the smallest; empty if there is none.
std::vector<std::uint32_t> find_cycle(const Graph& graph) {
  const std::size_t n = graph.plan.threadblocks.size();
  std::vector<std::uint32_t> visit(n, 0);  // the walk that saw it first, from 1
  for (std::uint32_t start = 0; start < n; ++start) {
    std::uint32_t tb = start;
    while (!graph.engine.place(tb).finished && visit[tb] == 0) {
      visit[tb] = start + 1;
      tb = graph.waits_for(tb);
    }
    if (graph.engine.place(tb).finished || visit[tb] != start + 1) continue;
    std::vector<std::uint32_t> cycle;
    const std::uint32_t first = tb;
    do {
      cycle.push_back(tb);
      tb = graph.waits_for(tb);
    } while (tb != first);
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    return cycle;
  }
  return {};
}

}  // namespace

Error deadlock_error(const Plan& plan, const Engine& engine, const Call& call) {
  const Graph graph{plan, engine, call};
  const std::vector<std::uint32_t> cycle = find_cycle(graph);
  // The cycle first, then everybody else who waits.
  std::vector<std::uint32_t> waiting = cycle;
  std::vector<bool> in_cycle(plan.threadblocks.size(), false);
  for (const std::uint32_t tb : cycle) in_cycle[tb] = true;
  for (std::uint32_t tb = 0; tb < plan.threadblocks.size(); ++tb) {
    if (!in_cycle[tb] && !engine.place(tb).finished) waiting.push_back(tb);
  }
  std::string message = fmt::format("deadlock: {} of {} threadblocks cannot go on", waiting.size(),
                                    plan.threadblocks.size());
  if (!cycle.empty()) {
    message += ", in a cycle:";
    for (std::size_t i = 0; i < cycle.size() && i < kMaxListed; ++i) {
      message += fmt::format(" {} ->", plan.name(graph.block(cycle[i])));
    }
    message += cycle.size() > kMaxListed ? fmt::format(" {} more ->", cycle.size() - kMaxListed)
                                         : std::string();
    message += fmt::format(" {}", plan.name(graph.block(cycle.front())));
  }
  std::vector<Note> notes;
  for (std::size_t i = 0; i < waiting.size() && i < kMaxListed; ++i) {
    const std::uint32_t tb = waiting[i];
    notes.push_back({graph.who(tb) + " " + graph.reason(tb), graph.where(tb)});
  }
  if (waiting.size() > kMaxListed) {
    notes.push_back({fmt::format("{} more wait", waiting.size() - kMaxListed), {}});
  }
  const std::string hint =
      fmt::format("a connection holds {} transfers of at most {} chunks here ({} protocol)",
                  call.slots, call.chunks_per_transfer, protocol_name(plan.algorithm.protocol));
  return {Code::Deadlock, std::move(message), graph.where(waiting.front()), hint, std::move(notes)};
}

}  // namespace hocket::runtime
