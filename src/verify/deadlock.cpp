// The ruling, the least number of slots, the largest size, and who waits for whom.
#include "verify/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "verify/findings.h"
#include "verify/greedy_run.h"
#include "verify/words.h"

namespace hocket::verifying {
namespace {

constexpr int kMostChunks = 71;  // of a transfer (spec 6.3)

// Spec 6.3: m = min(71, max(1, floor(E / ceil(B / N)))).
int cut_for(const Algorithm& a, std::int64_t transfer, std::int64_t bytes) {
  const std::int64_t chunks = std::max(a.chunks_per_loop, 1);
  const std::int64_t chunk_bytes =
      std::max<std::int64_t>(bytes / chunks + static_cast<std::int64_t>(bytes % chunks != 0), 1);
  return static_cast<int>(std::clamp<std::int64_t>(transfer / chunk_bytes, 1, kMostChunks));
}

std::string times(std::int64_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

class Decision {
 public:
  Decision(const Loaded& loaded, const VerifyOptions& options, PlacementReport& report)
      : loaded_(loaded),
        a_(*loaded.algorithm),
        options_(options),
        target_(options.target.value_or(Target::hocket)),
        max_bytes_(options.max_bytes ? options.max_bytes : a_.max_bytes),
        cut_(worst_cut(loaded, target_, max_bytes_)),
        slots_(std::max(options.slots.value_or(protocol_slots(a_.protocol)), 0)),
        report_(report),
        ruling_(report.of(Property::deadlock)) {}

  void run() {
    GreedyRun bounded(loaded_, slots_, cut_);
    const bool safe = bounded.run();
    find_least_slots(safe);
    if (safe) {
      ruling_.ruling = Ruling::proved;
      ruling_.summary = fmt::format("every schedule ends, {}; {}", size_text(), slots_text());
      return;
    }
    find_largest_size();
    explain(bounded);
  }

 private:
  std::string size_text() const {
    return max_bytes_ ? fmt::format("for messages of up to {} bytes", *max_bytes_)
                      : std::string("at any size");
  }
  std::string slots_text() const {
    const std::string have = options_.slots
                                 ? fmt::format("{} given", times(slots_, "slot"))
                                 : fmt::format("{} has {}", protocol_name(a_.protocol), slots_);
    if (!report_.least_slots) return fmt::format("no number of slots is enough ({})", have);
    return fmt::format("needs {} ({})", times(*report_.least_slots, "slot"), have);
  }

  void find_least_slots(bool safe) {
    int enough = slots_;
    if (!safe) {
      GreedyRun unlimited(loaded_, std::nullopt, cut_);
      if (!unlimited.run()) return;
      enough = std::max(unlimited.most_used(), 1);
    }
    if (enough > 0 && ends(loaded_, 1, cut_)) enough = 1;
    if (enough <= 1) {
      report_.least_slots = enough == 0 || ends(loaded_, 0, cut_) ? 0 : 1;
      return;
    }
    int too_few = safe ? 1 : std::max(slots_, 1);
    while (enough - too_few > 1) {
      const int middle = too_few + (enough - too_few) / 2;
      (ends(loaded_, middle, cut_) ? enough : too_few) = middle;
    }
    report_.least_slots = enough;
  }

  // A larger cut needs fewer slots; the least one that is safe says how large a message may be.
  void find_largest_size() {
    int most = 1;
    for (const Instr& i : loaded_.instrs) most = std::max(most, i.count);
    int safe = std::min(most, kMostChunks);
    if (safe <= cut_ || !ends(loaded_, slots_, safe)) return;
    int unsafe = cut_;
    while (safe - unsafe > 1) {
      const int middle = unsafe + (safe - unsafe) / 2;
      (ends(loaded_, slots_, middle) ? safe : unsafe) = middle;
    }
    const std::int64_t chunk =
        transfer_bytes(target_, a_.protocol, loaded_.collective->kind()) / safe;
    if (chunk > 0) report_.largest_safe_bytes = chunk * std::max(a_.chunks_per_loop, 1);
  }

  std::string reason_text(const GreedyRun& run, BlockId b) const {
    const GreedyRun::Reason reason = run.reason(b);
    const Instr& i = loaded_.instrs[run.next_of(b)];
    const Block& other = loaded_.blocks[reason.of];
    switch (reason.lack) {
      case GreedyRun::Lack::wait:
        return fmt::format("waits for the flag of tb {} step {}", other.tb,
                           loaded_.instrs[reason.awaited].last_step);
      case GreedyRun::Lack::message:
        return fmt::format("waits for a message of rank {} tb {}", other.rank, other.tb);
      case GreedyRun::Lack::slot:
        if (slots_ == 0) {
          return fmt::format("waits for rank {} tb {} to receive", other.rank, other.tb);
        }
        break;
    }
    const std::int64_t transfers = (std::int64_t{i.count} + cut_ - 1) / cut_;
    return fmt::format(
        "waits for a free slot to rank {} tb {}{}", other.rank, other.tb,
        transfers > 1 ? fmt::format(" (its {} chunks are {} transfers)", i.count, transfers) : "");
  }

  // Everybody who is stuck waits for somebody who is stuck, so following them ends in a cycle.
  void explain(const GreedyRun& run) {
    std::int64_t stuck = 0;
    BlockId at = kNone;
    for (BlockId b = 0; b < loaded_.blocks.size(); ++b) {
      if (run.finished(b)) continue;
      ++stuck;
      if (at == kNone) at = b;
    }
    std::vector<bool> seen(loaded_.blocks.size(), false);
    while (!seen[at]) {
      seen[at] = true;
      at = run.reason(at).of;
    }
    std::vector<BlockId> cycle;
    do {
      cycle.push_back(at);
      at = run.reason(at).of;
    } while (at != cycle.front());
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());

    constexpr std::size_t kMostNotes = 12;
    Finding f;
    f.at = loaded_.place(run.next_of(cycle.front()));
    f.diagnostic.code = Code::VerifyDeadlock;
    f.diagnostic.message = fmt::format(
        "{} never finish{} with {}: {} wait for each other in a circle",
        times(stuck, "threadblock"), stuck == 1 ? "es" : "", times(slots_, "slot"),
        cycle.size() == 1 ? "one does"
                          : times(static_cast<std::int64_t>(cycle.size()), "threadblock"));
    locate(loaded_, run.next_of(cycle.front()), f.diagnostic);
    for (std::size_t k = 0; k < cycle.size(); ++k) {
      const InstrId i = run.next_of(cycle[k]);
      f.chain.push_back(loaded_.place(i));
      if (k < kMostNotes) note_step(loaded_, i, reason_text(run, cycle[k]), f.diagnostic);
    }
    if (cycle.size() > kMostNotes) {
      f.diagnostic.notes.push_back({fmt::format("... and {} more", cycle.size() - kMostNotes), {}});
    }
    const std::int64_t least_bytes = options_.min_bytes.value_or(a_.min_bytes);
    if (report_.largest_safe_bytes && *report_.largest_safe_bytes >= least_bytes) {
      f.diagnostic.hint = fmt::format("it ends for messages of up to {} bytes (--max-bytes)",
                                      *report_.largest_safe_bytes);
    } else if (report_.least_slots) {
      f.diagnostic.hint = fmt::format("it would end with {}", times(*report_.least_slots, "slot"));
    }
    refute(ruling_, options_.max_findings, std::move(f));
    ruling_.summary =
        fmt::format("{} never finish{}{}; {}", times(stuck, "threadblock"), stuck == 1 ? "es" : "",
                    report_.largest_safe_bytes
                        ? fmt::format(" for messages above {} bytes", *report_.largest_safe_bytes)
                        : ", at any size",
                    slots_text());
  }

  const Loaded& loaded_;
  const Algorithm& a_;
  const VerifyOptions& options_;
  Target target_;
  std::optional<std::int64_t> max_bytes_;
  int cut_;
  int slots_;
  PlacementReport& report_;
  PropertyRuling& ruling_;
};

}  // namespace

int worst_cut(const Loaded& loaded, Target target, std::optional<std::int64_t> max_bytes) {
  if (!max_bytes) return 1;
  const Algorithm& a = *loaded.algorithm;
  return cut_for(a, transfer_bytes(target, a.protocol, loaded.collective->kind()), *max_bytes);
}

void check_deadlock(const Loaded& loaded, const VerifyOptions& options, PlacementReport& report) {
  Decision(loaded, options, report).run();
}

bool ends(const Loaded& loaded, std::optional<int> slots, int cut) {
  return GreedyRun(loaded, slots, cut).run();
}

}  // namespace hocket::verifying
