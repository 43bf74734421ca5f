#include "support/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/races.h"

namespace hocket::oracle {
namespace {

void append(Findings& to, Findings from) { to.insert(to.end(), from.begin(), from.end()); }

void compare(const View& view, const std::vector<Memory>& memory, Findings& findings) {
  const Collective& collective = view.algorithm->collective;
  for (int r = 0; r < collective.num_ranks(); ++r) {
    const Memory& holds = memory[static_cast<std::size_t>(r)];
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < collective.chunks(r, kind); ++i) {
        const Expected expected = collective.expected(r, {kind, i});
        if (expected.kind == Expected::Kind::any) continue;
        const Content wanted = expected_content(expected, collective.num_ranks());
        const auto found = holds.find(view.canonical(r, kind, i));
        const MaybeContent held = found == holds.end() ? std::nullopt : MaybeContent(found->second);
        if (held == wanted) continue;
        findings.push_back({FindingKind::wrong_result, r, -1, -1,
                            fmt::format("{}[{}] must hold {}, but holds {}", buffer_kind_name(kind),
                                        i, str(MaybeContent(wanted)), str(held))});
      }
    }
  }
}

// Data bytes of one transfer. RCCL's buffers are smaller for LL and LL128; broadcast and reduce
// with Simple count in 512 KiB (msccl-ir-spec.md, 4.3 and 6.3).
std::int64_t transfer_bytes(const Algorithm& algorithm, Target target) {
  const bool rooted = algorithm.collective.kind() == CollectiveKind::broadcast ||
                      algorithm.collective.kind() == CollectiveKind::reduce;
  const bool rccl = target == Target::rccl;
  switch (algorithm.protocol) {
    case Protocol::simple:
      return rooted ? 512 * 1024 : 2 * 1024 * 1024;
    case Protocol::ll:
      return rccl ? 16 * 1024 : 32 * 1024;
    case Protocol::ll128:
      return rccl ? 50'176 : 576'000;
  }
  return 1;
}

}  // namespace

const char* finding_kind_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::structure:
      return "structure";
    case FindingKind::merge:
      return "merge";
    case FindingKind::connection:
      return "connection";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::race:
      return "race";
    case FindingKind::through_ranks:
      return "ordered only through other ranks";
    case FindingKind::uninitialised:
      return "uninitialised";
    case FindingKind::wrong_result:
      return "wrong result";
  }
  return "?";
}

std::string str(const Finding& finding) {
  std::string text = finding_kind_name(finding.kind);
  text += ":";
  if (finding.rank >= 0) text += " rank " + std::to_string(finding.rank);
  if (finding.tb >= 0) text += " tb " + std::to_string(finding.tb);
  if (finding.step >= 0) text += " step " + std::to_string(finding.step);
  return text + ": " + finding.text;
}

std::string str(const Findings& findings) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(findings.size(), 20); ++i) {
    text += str(findings[i]) + "\n";
  }
  if (findings.size() > 20) text += "... " + std::to_string(findings.size()) + " in all\n";
  return text;
}

bool has(const Findings& findings, FindingKind kind) {
  return std::any_of(findings.begin(), findings.end(),
                     [kind](const Finding& f) { return f.kind == kind; });
}

int allowed_cut(const Algorithm& algorithm, Target target) {
  if (!algorithm.max_bytes || algorithm.chunks_per_loop < 1) return 1;
  const std::int64_t chunks = algorithm.chunks_per_loop;
  const std::int64_t chunk_bytes =
      std::max<std::int64_t>(1, (*algorithm.max_bytes + chunks - 1) / chunks);
  return static_cast<int>(
      std::clamp<std::int64_t>(transfer_bytes(algorithm, target) / chunk_bytes, 1, 71));
}

Verdict judge(const Algorithm& algorithm, const JudgeOptions& options) {
  Verdict verdict;
  const View view = view_of(algorithm, algorithm.collective.in_place());
  append(verdict.findings, check_steps(view));
  append(verdict.findings, check_connections(view));
  if (!verdict.findings.empty()) return verdict;
  append(verdict.findings, check_merges(view, options.structure));

  const MachineOptions bounded{options.slots.value_or(protocol_slots(algorithm.protocol)),
                               options.cut.value_or(allowed_cut(algorithm, options.target))};
  append(verdict.findings, run_machine(view, bounded).deadlock);

  // With any number of slots only a cycle of waits can stop it, and that is reported above.
  MachineResult free = run_machine(view, {std::nullopt, 1});
  append(verdict.findings, free.uninitialised);
  if (!free.finished) return verdict;
  append(verdict.findings, find_races(view));
  verdict.memory = std::move(free.memory);
  if (options.postcondition && algorithm.collective.has_postcondition()) {
    verdict.compared = true;
    compare(view, verdict.memory, verdict.findings);
  }
  return verdict;
}

}  // namespace hocket::oracle
