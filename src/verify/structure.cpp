// Rank by rank, threadblock by threadblock, step by step.
#include "verify/structure.h"

#include <fmt/format.h>

#include "verify/findings.h"

namespace hocket::verifying {
namespace {

class Checker {
 public:
  Checker(const Algorithm& algorithm, const Collective& collective, bool in_place, int max_findings,
          PropertyRuling& structure)
      : algorithm_(algorithm),
        collective_(collective),
        in_place_(in_place),
        max_findings_(max_findings),
        structure_(structure) {}

  void run() {
    if (collective_.num_ranks() != algorithm_.num_ranks()) {
      report({}, "the algorithm has {} ranks, but its collective {}", algorithm_.num_ranks(),
             collective_.num_ranks());
      return;
    }
    if (algorithm_.chunks_per_loop != collective_.chunks_per_loop()) {
      report({}, "{} chunks a loop, but the largest buffer has {}", algorithm_.chunks_per_loop,
             collective_.chunks_per_loop());
    }
    for (std::int32_t r = 0; r < algorithm_.num_ranks(); ++r) check_rank(r);
  }

 private:
  template <typename... Args>
  void report(StepPlace at, fmt::format_string<Args...> format, Args&&... args) {
    Finding finding;
    finding.at = at;
    finding.diagnostic.code = Code::VerifyStructure;
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    finding.diagnostic.message = at.rank < 0 ? text : fmt::format("{} {}", str(at), text);
    if (at.step >= 0) finding.diagnostic.where = algorithm_.location_of(global(at));
    refute(structure_, max_findings_, std::move(finding));
  }

  std::uint32_t global(StepPlace at) const {
    return algorithm_.ranks[static_cast<std::size_t>(at.rank)]
               .threadblocks[static_cast<std::size_t>(at.tb)]
               .first_step +
           static_cast<std::uint32_t>(at.step);
  }

  void check_rank(std::int32_t r) {
    const RankProgram& rank = algorithm_.ranks[static_cast<std::size_t>(r)];
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      const int wanted = collective_.chunks(r, kind);
      if (rank.chunks(kind) != 0 && rank.chunks(kind) != wanted) {
        report({r}, "has {} chunks of {}, but its collective gives it {}", rank.chunks(kind),
               buffer_kind_name(kind), wanted);
      }
    }
    if (rank.scratch_chunks < 0) report({r}, "has {} chunks of scratch", rank.scratch_chunks);
    for (std::size_t t = 0; t < rank.threadblocks.size(); ++t) {
      check_threadblock({r, static_cast<std::int32_t>(t)}, rank, rank.threadblocks[t]);
    }
  }

  void check_threadblock(StepPlace at, const RankProgram& rank, const ThreadBlock& tb) {
    const auto check_peer = [&](std::int32_t peer, const char* verb) {
      if (peer < -1 || peer >= algorithm_.num_ranks()) {
        report(at, "{} rank {}, but the algorithm has {} ranks", verb, peer,
               algorithm_.num_ranks());
      } else if (peer == at.rank) {
        report(at, "{} its own rank", verb);
      }
    };
    check_peer(tb.send, "sends to");
    check_peer(tb.recv, "receives from");
    if (tb.channel < 0 || tb.channel >= algorithm_.num_channels) {
      report(at, "is on channel {}, but there are {}", tb.channel, algorithm_.num_channels);
    }
    const std::span<const Step> steps = algorithm_.steps_of(tb);
    // Of the last real step seen from the end: whether it has a dependence; none: there is none.
    enum class Next { none, waits, does_not_wait } next = Next::none;
    for (std::size_t i = steps.size(); i-- > 0;) {
      at.step = static_cast<std::int32_t>(i);
      const Step& step = steps[i];
      if (step.op != OpCode::nop) {
        next = step.depend_tb >= 0 ? Next::waits : Next::does_not_wait;
        continue;
      }
      if (step.depend_tb < 0) {
        report(at, "is a nop without a dependence: it shifts the numbers of the steps after it");
      }
      if (next == Next::none) {
        report(at, "is a nop that no step follows: its dependence is lost");
      } else if (next == Next::does_not_wait) {
        report(at, "is a nop before a step that has no dependence of its own: loaders refuse that");
      }
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      at.step = static_cast<std::int32_t>(i);
      check_dependence(at, rank, steps[i]);
      if (steps[i].op != OpCode::nop) check_operands(at, rank, tb, steps[i]);
    }
  }

  void check_dependence(StepPlace at, const RankProgram& rank, const Step& step) {
    if (step.depend_tb < 0) return;
    const auto other = static_cast<std::size_t>(step.depend_tb);
    if (other >= rank.threadblocks.size()) {
      report(at, "waits for tb {}, which is not there", step.depend_tb);
      return;
    }
    const std::span<const Step> steps = algorithm_.steps_of(rank.threadblocks[other]);
    if (step.depend_step < 0 || static_cast<std::size_t>(step.depend_step) >= steps.size()) {
      report(at, "waits for step {} of tb {}, which has {} steps", step.depend_step, step.depend_tb,
             steps.size());
      return;
    }
    const Step& awaited = steps[static_cast<std::size_t>(step.depend_step)];
    if (awaited.op == OpCode::nop) {
      report(at, "waits for step {} of tb {}, a nop, which shows no flag", step.depend_step,
             step.depend_tb);
    } else if (!awaited.has_dependent) {
      report(at, "waits for step {} of tb {}, which shows no flag (hasdep is 0)", step.depend_step,
             step.depend_tb);
    }
    if (step.depend_tb == at.tb && step.depend_step >= at.step) report(at, "waits for itself");
  }

  void check_operands(StepPlace at, const RankProgram& rank, const ThreadBlock& tb,
                      const Step& step) {
    const OpInfo& info = op_info(step.op);
    if (info.sends && tb.send < 0) {
      report(at, "({}) sends, but its threadblock has no peer to send to", info.name);
    }
    if (info.receives && tb.recv < 0) {
      report(at, "({}) receives, but its threadblock has no peer to receive from", info.name);
    }
    if (step.count < 1) {
      report(at, "({}) has a count of {}", info.name, step.count);
      return;
    }
    const bool src = info.reads_src && in_range(at, rank, step, step.src_buffer, step.src_offset);
    const bool dst = info.writes_dst && in_range(at, rank, step, step.dst_buffer, step.dst_offset);
    if (src && dst) check_overlap(at, step);
  }

  bool in_range(StepPlace at, const RankProgram& rank, const Step& step, BufferKind buffer,
                std::int32_t offset) {
    const std::int32_t size = rank.chunks(buffer);
    if (offset >= 0 && offset <= size - step.count) return true;
    report(at, "({}) uses {}, but rank {} has {}", op_info(step.op).name,
           step.count == 1
               ? fmt::format("{}[{}]", buffer_kind_name(buffer), offset)
               : fmt::format("{}[{}, +{}]", buffer_kind_name(buffer), offset, step.count),
           at.rank,
           size <= 0   ? fmt::format("no {} by that name", buffer_kind_name(buffer))
           : size == 1 ? std::string("1 chunk of it")
                       : fmt::format("{} chunks of it", size));
    return false;
  }

  // Aliased names lie in one buffer side by side, so the first chunk says where all are.
  Slot canonical(std::int32_t rank, BufferKind buffer, std::int32_t offset) const {
    const Slot slot{buffer, offset};
    if (!in_place_ || buffer == BufferKind::scratch) return slot;
    return collective_.alias(rank, slot);
  }

  void check_overlap(StepPlace at, const Step& step) {
    const Slot src = canonical(at.rank, step.src_buffer, step.src_offset);
    const Slot dst = canonical(at.rank, step.dst_buffer, step.dst_offset);
    if (src == dst) {
      if (step.op == OpCode::reduce) report(at, "(re) reduces a place with itself");
      return;
    }
    const bool apart = src.buffer != dst.buffer || src.index >= dst.index + step.count ||
                       dst.index >= src.index + step.count;
    if (apart) return;
    report(at,
           "({}) reads {}[{}, +{}] and writes {}[{}, +{}]{}: they overlap without being the same",
           op_info(step.op).name, buffer_kind_name(step.src_buffer), step.src_offset, step.count,
           buffer_kind_name(step.dst_buffer), step.dst_offset, step.count,
           step.src_buffer == step.dst_buffer ? "" : ", one memory in place");
  }

  const Algorithm& algorithm_;
  const Collective& collective_;
  bool in_place_;
  int max_findings_;
  PropertyRuling& structure_;
};

}  // namespace

void check_structure(const Algorithm& algorithm, const Collective& collective, bool in_place,
                     int max_findings, PropertyRuling& structure) {
  Checker(algorithm, collective, in_place, max_findings, structure).run();
}

}  // namespace hocket::verifying
