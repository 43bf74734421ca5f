// Whether a target's loader takes an algorithm, and whether its kernels then do what it says. Each
// check names what the loader would do, because most of them it does not report itself.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "hocket/target.h"
#include "ir/unfenced_sends.h"

namespace hocket {
namespace {

class LimitChecker {
 public:
  LimitChecker(const Algorithm& algorithm, Target target, int max_listed)
      : a_(algorithm), target_(target), limits_(target_limits(target)), max_listed_(max_listed) {}

  std::vector<Diagnostic> run() {
    check_algorithm();
    for (std::size_t r = 0; r < a_.ranks.size(); ++r) check_rank(static_cast<int>(r), a_.ranks[r]);
    if (found_.empty()) check_sends();
    return std::move(found_);
  }

 private:
  // `message()` is only asked for what is listed: a broken algorithm breaks a limit at every step.
  template <typename Message>
  void report(Code code, Message&& message, std::string_view hint = {}, Location where = {}) {
    int& listed = listed_[static_cast<std::size_t>(code)];
    if (listed >= max_listed_) return;
    ++listed;
    found_.push_back({Severity::error, code, message(), std::move(where), std::string(hint), {}});
  }

  std::string_view target() const { return target_name(target_); }

  void check_algorithm() {
    const CollectiveKind kind = a_.collective.kind();
    if (!target_collective_name(target_, kind)) {
      report(
          Code::UnsupportedCollective,
          [&] {
            return fmt::format("{} has no name for the collective {}", target(),
                               collective_kind_name(kind));
          },
          "Hocket's own runtime takes every collective");
    }
    if (a_.num_ranks() > limits_.max_ranks) {
      report(Code::TooManyRanks, [&] {
        return fmt::format("{} ranks, but the reader of {} keeps {}", a_.num_ranks(), target(),
                           limits_.max_ranks);
      });
    }
    if (a_.num_channels > limits_.max_channels) {
      report(
          Code::TooManyChannels,
          [&] {
            return fmt::format("{} channels, but {} has {}", a_.num_channels, target(),
                               limits_.max_channels);
          },
          "use fewer channels or instances");
    }
    if (a_.min_bytes < 0 || (a_.max_bytes && (*a_.max_bytes < 1 || *a_.max_bytes < a_.min_bytes))) {
      report(Code::BadSizeRange, [&] {
        return fmt::format("message sizes from {} to {} bytes leave none that can be called",
                           a_.min_bytes, a_.max_bytes.value_or(0));
      });
    }
    // MSCCL sizes the scratch buffer for maxBytes when it starts, so a file with scratch has its
    // default of 128 MiB unless a limit is said.
    constexpr std::int64_t kDefaultMost = std::int64_t{1} << 27;
    const bool scratch = std::any_of(a_.ranks.begin(), a_.ranks.end(),
                                     [](const RankProgram& r) { return r.scratch_chunks > 0; });
    if (target_ == Target::msccl && scratch && !a_.max_bytes && a_.min_bytes >= kDefaultMost) {
      report(
          Code::BadSizeRange,
          [&] {
            return fmt::format(
                "message sizes from {} bytes with scratch and no upper limit, but msccl "
                "allocates scratch for messages below {} bytes then",
                a_.min_bytes, kDefaultMost);
          },
          "say the largest message size");
    }
  }

  void check_rank(int r, const RankProgram& rank) {
    const auto tbs = static_cast<std::int64_t>(rank.threadblocks.size());
    if (tbs > limits_.max_threadblocks) {
      report(
          Code::TooManyThreadblocks,
          [&] {
            return fmt::format("rank {} has {} threadblocks, but {} runs {}", r, tbs, target(),
                               limits_.max_threadblocks);
          },
          "use fewer instances or channels");
    }
    std::int64_t nodes = 1 + std::int64_t{a_.num_ranks()} + tbs;
    for (const ThreadBlock& tb : rank.threadblocks) nodes += tb.num_steps;
    if (nodes > limits_.max_nodes) {
      report(
          Code::TooManyNodes,
          [&] {
            return fmt::format(
                "rank {} needs {} XML nodes (1, a gpu each, its threadblocks and steps), but "
                "the reader of {} keeps {}",
                r, nodes, target(), limits_.max_nodes);
          },
          "use fewer instances, or chunks per step instead of steps");
    }
    check_buffers(r, rank);
    std::map<std::int32_t, int> senders;
    std::map<std::int32_t, int> receivers;
    for (std::size_t t = 0; t < rank.threadblocks.size(); ++t) {
      const ThreadBlock& tb = rank.threadblocks[t];
      const bool remote = tb.send >= 0 || tb.recv >= 0;
      if (remote && tb.channel >= a_.num_channels) {
        report(Code::TooManyChannels, [&] {
          return fmt::format(
              "rank {} threadblock {} uses channel {}, but the algorithm has {}: it "
              "would never be connected",
              r, t, tb.channel, a_.num_channels);
        });
      }
      bool sends = false;
      bool receives = false;
      check_steps(r, static_cast<int>(t), tb, sends, receives);
      // Reported once a channel: at the first threadblock too many.
      if (sends && senders[tb.channel]++ == limits_.max_on_channel) {
        report_crowd(r, tb.channel, "send");
      }
      if (receives && receivers[tb.channel]++ == limits_.max_on_channel) {
        report_crowd(r, tb.channel, "receive");
      }
    }
  }

  // What else is wrong is said first: it bounds the threadblocks and steps to look at.
  void check_sends() {
    if (limits_.send_fenced_in_ll || a_.protocol != Protocol::ll) return;
    for (const UnfencedSend& u : unfenced_sends(a_, static_cast<std::size_t>(max_listed_))) {
      const auto& tbs = a_.ranks[static_cast<std::size_t>(u.rank)].threadblocks;
      const ThreadBlock& write = tbs[static_cast<std::size_t>(u.write_tb)];
      const ThreadBlock& send = tbs[static_cast<std::size_t>(u.send_tb)];
      report(
          Code::UnfencedSend,
          [&] {
            return fmt::format(
                "rank {} threadblock {} step {} ({}) may overwrite what step {} (s) of threadblock "
                "{} still reads: in LL, {} does not end a send with a barrier",
                u.rank, u.write_tb, u.write_step,
                op_info(a_.steps[write.first_step + static_cast<std::uint32_t>(u.write_step)].op)
                    .name,
                u.send_step, u.send_tb, target());
          },
          "use Simple or LL128, or keep the chunk until its receiver has answered",
          a_.location_of(send.first_step + static_cast<std::uint32_t>(u.send_step)));
    }
  }

  void report_crowd(int r, std::int32_t channel, std::string_view what) {
    report(
        Code::TooManyOnChannel,
        [&] {
          return fmt::format(
              "rank {} has more than {} threadblocks that {} on channel {}, the most that "
              "{} takes",
              r, limits_.max_on_channel, what, channel, target());
        },
        "spread them over more channels");
  }

  // MSCCL refuses a rank whose chunk counts do not cover the buffer; 0 stands for "not used".
  void check_buffers(int r, const RankProgram& rank) {
    if (target_ != Target::msccl) return;
    const CollectiveKind kind = a_.collective.kind();
    const auto check = [&](std::string_view name, std::int64_t chunks, bool smaller) {
      const std::int64_t times = smaller ? a_.num_ranks() : 1;
      if (chunks == 0 || chunks * times == a_.chunks_per_loop) return;
      report(Code::BufferSizes, [&] {
        return fmt::format(
            "rank {} has {} {} chunks, but msccl expects {} (or 0 for none) when {} "
            "chunks are a loop",
            r, chunks, name, a_.chunks_per_loop / times, a_.chunks_per_loop);
      });
    };
    check("input", rank.input_chunks, kind == CollectiveKind::allgather);
    check("output", rank.output_chunks, kind == CollectiveKind::reduce_scatter);
  }

  void check_steps(int r, int t, const ThreadBlock& tb, bool& sends, bool& receives) {
    if (tb.num_steps > static_cast<std::uint32_t>(limits_.max_steps)) {
      report(
          Code::TooManySteps,
          [&] {
            return fmt::format("rank {} threadblock {} has {} steps, but {} runs {}", r, t,
                               tb.num_steps, target(), limits_.max_steps);
          },
          "use more channels or fewer chunks, so that threadblocks are shorter");
    }
    const Step* fused = nullptr;  // the `re` that a following one would be merged into
    int chain = 0;
    int reduces = 0;       // so far
    bool pending = false;  // dependences of nops that wait for a real step
    for (std::uint32_t i = 0; i < tb.num_steps; ++i) {
      const std::uint32_t number = tb.first_step + i;
      const Step& step = a_.steps[number];
      const OpInfo& info = op_info(step.op);
      sends = sends || info.sends;
      receives = receives || info.receives;
      const auto say = [&](Code code, auto&& message, std::string_view hint = {}) {
        report(
            code,
            [&] { return fmt::format("rank {} threadblock {} step {}: {}", r, t, i, message()); },
            hint, a_.location_of(number));
      };
      if (step.depend_tb > limits_.max_depend_tb) {
        say(Code::DependenceTooFar, [&] {
          return fmt::format("waits for threadblock {}, but {} can name 0 to {}", step.depend_tb,
                             target(), limits_.max_depend_tb);
        });
      }
      const std::int32_t offset = std::max(step.src_offset, step.dst_offset);
      if (offset > limits_.max_offset) {
        say(Code::OffsetTooLarge, [&] {
          return fmt::format("chunk index {}, but {} stores up to {}", offset, target(),
                             limits_.max_offset);
        });
      }
      // All targets but our own merge consecutive reduces and gather nops the same way.
      if (target_ != Target::hocket) check_dependence(step, pending, say);
      if (step.op == OpCode::nop) continue;
      if (step.count > limits_.max_count) {
        say(Code::CountTooLarge, [&] {
          return fmt::format("{} chunks, but {} takes {}", step.count, target(), limits_.max_count);
        });
      }
      const bool reduces_received = info.receives && info.reads_src;
      if ((reduces_received && !limits_.receive_reduce) ||
          (info.receives && info.sends && !limits_.fused_send)) {
        say(
            Code::UnsupportedStep,
            [&] { return fmt::format("{}, which {} does not run", info.name, target()); },
            "compile for this target");
      }
      if (step.op != OpCode::reduce) {
        fused = nullptr;
      } else {
        // The loaders count the reduces of the whole threadblock, and merge none with the 16th
        // (spec 5.4).
        const bool merges = fused != nullptr && reduces != 16 && !fused->has_dependent &&
                            step.depend_tb < 0 && fused->dst_buffer == step.dst_buffer &&
                            fused->dst_offset == step.dst_offset &&
                            fused->src_buffer == step.src_buffer;
        ++reduces;
        chain = merges ? chain + 1 : 1;
        fused = &step;
        if (merges && chain - 1 == limits_.max_fused_reduces) {
          say(
              Code::TooManyFusedReduces,
              [&] {
                return fmt::format(
                    "more than {} reduces into {}[{}] in a row, which {} merges into one and "
                    "then loses the destination's old value",
                    limits_.max_fused_reduces, buffer_kind_name(step.dst_buffer), step.dst_offset,
                    target());
              },
              "give one of them has_dependent: it is then not merged with the next");
        }
      }
    }
  }

  template <typename Say>
  static void check_dependence(const Step& step, bool& pending, Say&& say) {
    if (step.op == OpCode::nop) {
      if (step.depend_tb < 0) {
        say(Code::LostDependence, [&] {
          return std::string(
              "a nop without a dependence, after which the runtimes misnumber the steps");
        });
      }
      pending = true;
    } else {
      if (pending && step.depend_tb < 0) {
        say(
            Code::LostDependence,
            [&] {
              return std::string(
                  "no dependence of its own after a nop, whose dependence the runtimes then "
                  "refuse");
            },
            "move the last nop's dependence to this step");
      }
      pending = false;
    }
  }

  const Algorithm& a_;
  Target target_;
  const TargetLimits& limits_;
  int max_listed_;
  std::vector<int> listed_ = std::vector<int>(all_codes().size());
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> check_limits(const Algorithm& algorithm, Target target, int max_listed) {
  return LimitChecker(algorithm, target, max_listed).run();
}

}  // namespace hocket
