#include "support/structure.h"

#include <fmt/format.h>

#include <set>

namespace hocket::oracle {
namespace {

using fmt::format;

struct Range {
  BufferKind buffer;
  int offset;
};

std::set<Slot> slots_of(const View& view, int rank, Range range, int count) {
  std::set<Slot> slots;
  for (int i = 0; i < count; ++i) {
    slots.insert(view.canonical(rank, range.buffer, range.offset + i));
  }
  return slots;
}

bool intersect(const std::set<Slot>& a, const std::set<Slot>& b) {
  for (const Slot& slot : a) {
    if (b.count(slot) != 0) return true;
  }
  return false;
}

class StepChecker {
 public:
  explicit StepChecker(const View& view) : view_(view), algorithm_(*view.algorithm) {}

  Findings run() {
    check_ranks();
    for (const TbRef at : view_.threadblocks()) check_threadblock(at);
    return std::move(findings_);
  }

 private:
  void report(TbRef at, int step, std::string text) {
    findings_.push_back({FindingKind::structure, at.rank, at.tb, step, std::move(text)});
  }

  void check_ranks() {
    const Collective& collective = algorithm_.collective;
    if (collective.num_ranks() != algorithm_.num_ranks()) {
      report({}, -1,
             format("{} ranks, but the collective has {}", algorithm_.num_ranks(),
                    collective.num_ranks()));
      return;
    }
    if (algorithm_.chunks_per_loop != collective.chunks_per_loop()) {
      report({}, -1,
             format("{} chunks a loop, but the collective has {}", algorithm_.chunks_per_loop,
                    collective.chunks_per_loop()));
    }
    for (int r = 0; r < algorithm_.num_ranks(); ++r) {
      const RankProgram& rank = algorithm_.ranks[static_cast<std::size_t>(r)];
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        // 0 stands for "not used by name", the runtimes' habit for aliased buffers.
        if (rank.chunks(kind) != 0 && rank.chunks(kind) != collective.chunks(r, kind)) {
          report({r, -1}, -1,
                 format("{} chunks of {}, but the collective has {}", rank.chunks(kind),
                        buffer_kind_name(kind), collective.chunks(r, kind)));
        }
      }
      if (rank.scratch_chunks < 0) report({r, -1}, -1, "a negative number of scratch chunks");
    }
  }

  void check_threadblock(TbRef at) {
    const ThreadBlock& tb = view_.tb(at);
    const int ranks = algorithm_.num_ranks();
    if (tb.send < -1 || tb.send >= ranks || tb.send == at.rank) {
      report(at, -1, format("send peer {}", tb.send));
    }
    if (tb.recv < -1 || tb.recv >= ranks || tb.recv == at.rank) {
      report(at, -1, format("receive peer {}", tb.recv));
    }
    if (tb.channel < 0 || tb.channel >= algorithm_.num_channels) {
      report(at, -1, format("channel {} of {}", tb.channel, algorithm_.num_channels));
    }
    const auto steps = algorithm_.steps_of(tb);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      check_dependence(at, static_cast<int>(i), step);
      if (step.op == OpCode::nop) {
        check_nop(at, steps, i);
      } else {
        check_operands(at, static_cast<int>(i), step);
      }
    }
  }

  void check_nop(TbRef at, std::span<const Step> steps, std::size_t i) {
    if (steps[i].depend_tb < 0) report(at, static_cast<int>(i), "a nop without a dependence");
    std::size_t next = i + 1;
    while (next < steps.size() && steps[next].op == OpCode::nop) ++next;
    if (next == steps.size()) {
      report(at, static_cast<int>(i), "a nop that no step follows: its dependence is lost");
    } else if (steps[next].depend_tb < 0) {
      report(at, static_cast<int>(i), "a nop before a step without a dependence of its own");
    }
  }

  void check_dependence(TbRef at, int i, const Step& step) {
    if (step.depend_tb < 0) return;
    const RankProgram& rank = algorithm_.ranks[static_cast<std::size_t>(at.rank)];
    if (step.depend_tb >= static_cast<int>(rank.threadblocks.size())) {
      report(at, i, format("depends on threadblock {}, which is not there", step.depend_tb));
      return;
    }
    const auto others =
        algorithm_.steps_of(rank.threadblocks[static_cast<std::size_t>(step.depend_tb)]);
    if (step.depend_step < 0 || step.depend_step >= static_cast<int>(others.size())) {
      report(at, i,
             format("depends on step {} of threadblock {}, which is not there", step.depend_step,
                    step.depend_tb));
      return;
    }
    const Step& other = others[static_cast<std::size_t>(step.depend_step)];
    if (other.op == OpCode::nop) report(at, i, "depends on a nop");
    if (!other.has_dependent) {
      report(at, i,
             format("depends on step {} of threadblock {}, which does not publish",
                    step.depend_step, step.depend_tb));
    }
    if (step.depend_tb == at.tb && step.depend_step >= i) report(at, i, "waits for itself");
  }

  void check_operands(TbRef at, int i, const Step& step) {
    const OpInfo& info = op_info(step.op);
    const ThreadBlock& tb = view_.tb(at);
    if (info.sends && tb.send < 0) report(at, i, "sends without a peer");
    if (info.receives && tb.recv < 0) report(at, i, "receives without a peer");
    if (step.count < 1) {
      report(at, i, format("count {}", step.count));
      return;
    }
    const bool src = info.reads_src && in_range(at, i, {step.src_buffer, step.src_offset}, step);
    const bool dst = info.writes_dst && in_range(at, i, {step.dst_buffer, step.dst_offset}, step);
    if (!src || !dst) return;
    const auto from = slots_of(view_, at.rank, {step.src_buffer, step.src_offset}, step.count);
    const auto to = slots_of(view_, at.rank, {step.dst_buffer, step.dst_offset}, step.count);
    const bool same_start = view_.canonical(at.rank, step.src_buffer, step.src_offset) ==
                            view_.canonical(at.rank, step.dst_buffer, step.dst_offset);
    if (intersect(from, to) && !(from == to && same_start)) {
      report(at, i, "source and destination overlap without being the same");
    }
    if (from == to && step.op == OpCode::reduce) report(at, i, "reduces a place with itself");
  }

  bool in_range(TbRef at, int i, Range range, const Step& step) {
    const RankProgram& rank = algorithm_.ranks[static_cast<std::size_t>(at.rank)];
    const int size = rank.chunks(range.buffer);
    if (range.offset >= 0 && range.offset <= size - step.count) return true;
    report(at, i,
           format("{} [{}, +{}) of a buffer of {}", buffer_kind_name(range.buffer), range.offset,
                  step.count, size));
    return false;
  }

  const View& view_;
  const Algorithm& algorithm_;
  Findings findings_;
};

}  // namespace

Findings check_steps(const View& view) { return StepChecker(view).run(); }

Findings check_connections(const View& view) {
  Findings findings;
  std::map<ConnectionKey, TbRef> senders;
  std::map<ConnectionKey, TbRef> receivers;
  const auto own = [&](std::map<ConnectionKey, TbRef>& owners, ConnectionKey key, TbRef at,
                       const char* end) {
    const auto [found, fresh] = owners.emplace(key, at);
    if (!fresh) {
      findings.push_back({FindingKind::connection, at.rank, at.tb, -1,
                          format("threadblock {} also {} {}->{} on channel {}", found->second.tb,
                                 end, key.src, key.dst, key.channel)});
    }
  };
  for (const TbRef at : view.threadblocks()) {
    if (view.tb(at).send >= 0) own(senders, out_of(view, at), at, "sends");
    if (view.tb(at).recv >= 0) own(receivers, into(view, at), at, "receives");
  }
  const auto missing = [&](const ConnectionKey& key, TbRef at, const char* end) {
    findings.push_back(
        {FindingKind::connection, at.rank, at.tb, -1,
         format("{}->{} on channel {} has no {}", key.src, key.dst, key.channel, end)});
  };
  for (const auto& [key, at] : receivers) {
    if (senders.count(key) == 0) missing(key, at, "sender");
  }
  for (const auto& [key, at] : senders) {
    const auto other = receivers.find(key);
    if (other == receivers.end()) {
      missing(key, at, "receiver");
      continue;
    }
    std::vector<Instruction> sent;
    std::vector<Instruction> received;
    for (const Instruction& i : view.of(at)) {
      if (sends(i.what)) sent.push_back(i);
    }
    for (const Instruction& i : view.of(other->second)) {
      if (receives(i.what)) received.push_back(i);
    }
    if (sent.size() != received.size()) {
      findings.push_back({FindingKind::connection, at.rank, at.tb, -1,
                          format("{} sends to rank {} on channel {}, which receives {}",
                                 sent.size(), key.dst, key.channel, received.size())});
    }
    for (std::size_t i = 0; i < std::min(sent.size(), received.size()); ++i) {
      if (sent[i].what.count == received[i].what.count) continue;
      findings.push_back(
          {FindingKind::connection, at.rank, at.tb, sent[i].step,
           format("sends {} chunks, but rank {} tb {} step {} receives {}", sent[i].what.count,
                  other->second.rank, other->second.tb, received[i].step, received[i].what.count)});
    }
  }
  return findings;
}

Findings check_merges(const View& view, const StructureOptions& options) {
  Findings findings;
  if (!options.loader_rules) return findings;
  for (const TbRef at : view.threadblocks()) {
    const auto& list = view.of(at);
    int merged = 1;  // reductions in the current instruction
    int all = 0;     // in the threadblock, up to the step before
    std::size_t first = 0;
    for (std::size_t i = 1; i < list.size(); ++i) {
      const Step& before = list[i - 1].what;
      const Step& now = list[i].what;
      all += before.op == OpCode::reduce ? 1 : 0;
      const bool merges =
          all != 16 && before.op == OpCode::reduce && now.op == OpCode::reduce &&
          before.dst_buffer == now.dst_buffer && before.dst_offset == now.dst_offset &&
          before.src_buffer == now.src_buffer && now.depend_tb < 0 && !before.has_dependent;
      if (!merges) {
        merged = 1;
        first = i;
        continue;
      }
      const auto report = [&](std::string text) {
        findings.push_back({FindingKind::merge, at.rank, at.tb, list[i].step, std::move(text)});
      };
      if (++merged == options.max_merged + 1) {
        report(format("more than {} reductions merge into one", options.max_merged));
      }
      if (now.count != before.count) report("merges with a `re` of another count");
      if (!list[i].waits.empty()) report("merges although a nop stands before it");
      const auto to = slots_of(view, at.rank, {now.dst_buffer, now.dst_offset}, now.count);
      for (std::size_t k = first; k <= i; ++k) {
        const Step& source = list[k].what;
        const auto from =
            slots_of(view, at.rank, {source.src_buffer, source.src_offset}, source.count);
        if (intersect(from, to)) {
          report("merges although a source overlaps the destination");
          break;
        }
      }
    }
  }
  return findings;
}

}  // namespace hocket::oracle
