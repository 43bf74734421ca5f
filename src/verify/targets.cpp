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
  const std::int64_t chunk_bytes = (bytes + chunks - 1) / chunks;
  const std::int64_t transfer = transfer_bytes(target, a.protocol, a.collective.kind());
  return (chunk_bytes + transfer - 1) / transfer;
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
