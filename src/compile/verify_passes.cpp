// Which judge each pass has, and what the verdict becomes.
#include "compile/verify_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hocket/diagnostic.h"
#include "hocket/target.h"
#include "hocket/verify.h"
#include "passes/emit.h"

namespace hocket {
namespace {

// Every scratch buffer of a rank behind the one before it.
void give_own_places(passes::Graph& graph) {
  std::map<std::pair<std::int32_t, std::uint32_t>, std::int32_t> length;
  const auto stretch = [&](std::int32_t rank, std::uint32_t buffer, std::int32_t end) {
    if (buffer < kFirstScratch) return;
    std::int32_t& have = length[{rank, buffer}];
    have = std::max(have, end);
  };
  for (const passes::Node& node : graph.nodes) {
    if (passes::Graph::reads(node)) {
      stretch(node.rank, node.src_buffer, node.src_index + node.count);
    }
    if (passes::Graph::writes(node)) {
      stretch(node.rank, node.dst_buffer, node.dst_index + node.count);
    }
  }
  graph.scratch_parts.assign(static_cast<std::size_t>(graph.trace->num_ranks()), 0);
  for (auto& [buffer, size] : length) {
    std::int32_t& used = graph.scratch_parts[static_cast<std::size_t>(buffer.first)];
    used += std::exchange(size, used);  // from here on: where the buffer begins
  }
  const auto move = [&](std::int32_t rank, std::uint32_t& buffer, std::int32_t& index) {
    if (buffer < kFirstScratch) return;
    index += length.at({rank, buffer});
    buffer = kFirstScratch;
  };
  for (passes::Node& node : graph.nodes) {
    if (passes::Graph::reads(node)) move(node.rank, node.src_buffer, node.src_index);
    if (passes::Graph::writes(node)) move(node.rank, node.dst_buffer, node.dst_index);
  }
}

Algorithm as_if_final(passes::Graph graph, const CompileOptions& options) {
  if (graph.scratch_parts.empty()) give_own_places(graph);
  graph.first_wait.resize(graph.size() + 1, 0);
  return passes::emit(graph, {target_limits(options.target).max_fused_reduces, options.min_bytes,
                              options.max_bytes});
}

const std::vector<Property> kAll = {Property::structure, Property::deadlock, Property::races,
                                    Property::initialised, Property::postcondition};

std::string first_finding(const PropertyRuling& ruling) {
  return ruling.findings.empty() ? ruling.summary : ruling.findings.front().diagnostic.message;
}

}  // namespace

const passes::Meaning& PassVerifier::meaning(std::int32_t parts) {
  if (!meaning_) meaning_.emplace(trace_, parts);
  return *meaning_;
}

std::string PassVerifier::compare(const FinalContents& contents, std::int32_t parts) {
  const Collective& c = contents.collective();
  std::unordered_map<std::uint32_t, Fingerprint> known;  // by value: sums are long and few
  for (int r = 0; r < c.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (std::int32_t i = 0; i < c.chunks(r, kind); ++i) {
        const Slot slot{kind, i};
        if (c.alias(r, slot) != slot) continue;
        std::optional<Fingerprint> found;
        if (const std::uint32_t value = contents.value(r, slot); value != kNothing) {
          const auto [at, fresh] = known.try_emplace(value);
          if (fresh) {
            for (const FinalContents::Count& part : contents.counts(r, slot)) {
              const Fingerprint one = origin_fingerprint(part.origin);
              at->second += Fingerprint{one.low * part.times, one.high * part.times};
            }
          }
          found = at->second;
        }
        if (found != meaning(parts).left(r, slot)) {
          return fmt::format("rank {} {}[{}] does not end with what the program leaves there", r,
                             buffer_kind_name(kind), i);
        }
      }
    }
  }
  return {};
}

void PassVerifier::require(const Algorithm& algorithm, std::string_view what, std::int32_t parts,
                           const std::vector<Property>& properties) {
  VerifyOptions verifying;
  // That RCCL ends a send in LL too early is a limit of the target (HK0417), which the driver
  // refuses; it is no fault of a pass.
  const bool unfenced = options_.target == Target::rccl && algorithm.protocol == Protocol::ll;
  if (!unfenced) verifying.target = options_.target;
  verifying.waste = false;
  verifying.as_declared = true;  // as the program was traced
  // The compiler has held the program already; not to look at the result would be no proof.
  verifying.max_chunks = std::numeric_limits<std::int64_t>::max();
  verifying.max_findings = 1;
  const bool whole =
      std::find(properties.begin(), properties.end(), Property::postcondition) != properties.end();
  if (whole && !trace_.collective.has_postcondition()) {
    verifying.check = [&](const FinalContents& contents) { return compare(contents, parts); };
  }
  const VerifyReport report = verify(algorithm, verifying);
  for (const PlacementReport& placement : report.placements) {
    for (const Property property : properties) {
      const PropertyRuling& ruling = placement.of(property);
      if (ruling.ruling != Ruling::refuted) continue;
      // A program that does not implement its collective is not the compiler's fault.
      if (property == Property::postcondition && trace_.collective.has_postcondition() &&
          !meaning(parts).implements_collective()) {
        continue;
      }
      const std::string message =
          fmt::format("{} broke the program '{}': {}: {}", what, algorithm.name,
                      property_name(property), first_finding(ruling));
      HOCKET_CHECK(false, message);
    }
  }
}

void PassVerifier::after(std::string_view pass, const passes::Graph& graph) {
  const std::string what = fmt::format("pass '{}'", pass);
  if (!graph.scratch_parts.empty() || !graph.first_wait.empty()) {
    require(as_if_final(graph, options_), what, graph.parts, kAll);
    return;
  }
  const std::string fault = meaning(graph.parts).check(graph);
  HOCKET_CHECK(fault.empty(),
               fmt::format("{} broke the program '{}': {}", what, trace_.name, fault));
  if (graph.blocks.empty()) return;
  require(as_if_final(graph, options_), what, graph.parts,
          {Property::structure, Property::deadlock});
}

void PassVerifier::of_result(const Algorithm& algorithm) {
  const std::int32_t before = std::max(trace_.collective.chunks_per_loop(), 1);
  require(algorithm, "the compiler", std::max(algorithm.collective.chunks_per_loop() / before, 1),
          kAll);
}

}  // namespace hocket
