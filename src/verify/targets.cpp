// One target, everything that could keep it from running the algorithm.
#include "verify/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "verify/deadlock.h"
#include "verify/findings.h"

namespace hocket::verifying {
namespace {

Finding from_diagnostic(Diagnostic diagnostic) {
  Finding finding;
  finding.diagnostic = std::move(diagnostic);
  return finding;
}

// Passes of the tile loop for the largest message: chunk bytes over the bytes of a transfer.
std::int64_t iterations(const Algorithm& a, Target target, std::int64_t bytes) {
  const std::int64_t chunks = std::max(a.chunks_per_loop, 1);
  const std::int64_t chunk_bytes = bytes / chunks + static_cast<std::int64_t>(bytes % chunks != 0);
  const std::int64_t transfer = transfer_bytes(target, a.protocol, a.collective.kind());
  return chunk_bytes / transfer + static_cast<std::int64_t>(chunk_bytes % transfer != 0);
}

// What MSCCL makes of two values that the other runtimes do not read (spec 1.2, 2.1, 2.2).
void check_msccl_values(const Algorithm& a, PropertyRuling& ruling, int max_findings) {
  const auto report = [&](std::string message, std::string hint) {
    Diagnostic d;
    d.code = Code::NameTooLong;
    d.message = std::move(message);
    d.hint = std::move(hint);
    refute(ruling, max_findings, from_diagnostic(std::move(d)));
  };
  if (a.collective.kind() == CollectiveKind::alltoall && a.name == "2D") {
    report("an alltoall named \"2D\", for which msccl runs its own algorithm instead of the steps",
           "give it another name");
  }
  constexpr int kWarp = 32;
  constexpr int kMostThreads = 512;  // with Simple; more in the file means as many
  const int threads = a.num_threads.value_or(0);
  if (threads < 0 || threads % kWarp != 0) {
    report(fmt::format("{} threads a threadblock, but msccl takes multiples of {}", threads, kWarp),
           "leave it out, or give 32, 64, 128, 256 or 512");
  } else if (threads > 0 && a.protocol == Protocol::simple) {
    // Its threads share the bytes of a transfer, which must come out even.
    const int used = std::min(threads, kMostThreads);
    if ((used & (used - 1)) != 0) {
      report(
          fmt::format("{} threads a threadblock, but with Simple msccl takes powers of 2", threads),
          "leave it out, or give 32, 64, 128, 256 or 512");
    }
  }
}

}  // namespace

TargetRuling rule_on_target(const Algorithm& algorithm, const Loaded* loaded,
                            const PlacementReport& base, Target target,
                            const VerifyOptions& options) {
  TargetRuling result;
  result.target = target;
  PropertyRuling& ruling = result.ruling;
  for (Diagnostic& limit : check_limits(algorithm, target, options.max_findings)) {
    refute(ruling, options.max_findings, from_diagnostic(std::move(limit)));
  }
  if (target == Target::msccl) check_msccl_values(algorithm, ruling, options.max_findings);
  const auto max_bytes = options.max_bytes ? options.max_bytes : algorithm.max_bytes;
  if (max_bytes && target != Target::hocket) {
    const std::int64_t passes = iterations(algorithm, target, *max_bytes);
    if (passes >= kMostIterations) {
      Diagnostic d;
      d.code = Code::TooManyIterations;
      d.message = fmt::format("messages of {} bytes take {} passes, but flags of {} count up to {}",
                              *max_bytes, passes, target_name(target), kMostIterations - 1);
      d.hint = "give a smaller --max-bytes, or use more chunks";
      refute(ruling, options.max_findings, from_diagnostic(std::move(d)));
    }
  }
  if (loaded != nullptr) {
    PlacementReport there;
    const Target asked = options.target.value_or(Target::hocket);
    const bool same = worst_cut(*loaded, target, max_bytes) == worst_cut(*loaded, asked, max_bytes);
    if (!same) {
      VerifyOptions as_there = options;
      as_there.target = target;
      check_deadlock(*loaded, as_there, there);
    }
    const PropertyRuling& deadlock = (same ? base : there).of(Property::deadlock);
    if (deadlock.ruling == Ruling::refuted) {
      for (const Finding& f : deadlock.findings) refute(ruling, options.max_findings, f);
    }
  }
  if (ruling.ruling == Ruling::refuted) {
    ruling.summary =
        ruling.findings.empty() ? "does not run there" : ruling.findings.front().diagnostic.message;
  } else if (loaded == nullptr) {
    const PropertyRuling& structure = base.of(Property::structure);
    ruling.summary = structure.ruling == Ruling::refuted ? "its structure is not right"
                                                         : std::string(structure.summary);
    ruling.ruling = structure.ruling == Ruling::refuted ? Ruling::refuted : Ruling::undecided;
  } else {
    ruling.ruling = Ruling::proved;
    ruling.summary = "loads, and runs as the model says";
  }
  return result;
}

}  // namespace hocket::verifying
