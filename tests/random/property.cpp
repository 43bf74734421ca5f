#include "random/property.h"

#include <fmt/format.h>

#include "hocket/compile.h"
#include "hocket/format.h"
#include "random/execution.h"
#include "support/interpreter.h"
#include "support/judge.h"

namespace hocket::random_test {
namespace {

using fmt::format;
using oracle::Interpretation;
using oracle::Verdict;

Outcome wrong(std::string fault, std::string text) {
  return {false, std::move(fault), std::move(text)};
}

bool chosen(const Requirement& requirement, int rank, Slot slot) {
  if (requirement.all) return true;
  std::uint64_t x = requirement.choice + static_cast<std::uint64_t>(rank) * 1'000'003U +
                    static_cast<std::uint64_t>(slot.buffer) * 7'919U +
                    static_cast<std::uint64_t>(slot.index) * 104'729U;
  x ^= x >> 31U;
  x *= 0x9E3779B97F4A7C15U;
  x ^= x >> 29U;
  return x % 2 == 0;
}

std::vector<Required> requirements(const ProgramSpec& spec, const Interpretation& meaning) {
  std::vector<Required> required;
  for (const auto& [place, content] : meaning.slots) {
    if (place.buffer > kOutputBuffer) continue;
    const Slot slot{place.buffer == kInputBuffer ? BufferKind::input : BufferKind::output,
                    place.index};
    if (chosen(spec.requirement, place.rank, slot)) required.push_back({place.rank, slot, content});
  }
  return required;
}

Outcome compare(const Trace& trace, const Algorithm& algorithm, const Verdict& verdict,
                const Interpretation& meaning) {
  const Collective& fine = algorithm.collective;
  for (int r = 0; r < fine.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < fine.chunks(r, kind); ++i) {
        if (fine.expected(r, {kind, i}).kind == Expected::Kind::any) continue;
        const Slot slot = fine.alias(r, {kind, i});
        const auto wanted = oracle::content_of(meaning, r, slot);
        const auto& memory = verdict.memory[static_cast<std::size_t>(r)];
        const auto held = memory.find(slot);
        const oracle::MaybeContent found =
            held == memory.end() ? std::nullopt : oracle::MaybeContent(held->second);
        if (wanted && found != wanted) {
          return wrong("result differs",
                       format("rank {} {}[{}] of {} holds {}, but the program says {}", r,
                              buffer_kind_name(kind), i, trace.name, oracle::str(found),
                              oracle::str(wanted)));
        }
      }
    }
  }
  return {};
}

Outcome check_target(const Algorithm& algorithm, Target target) {
  const TargetLimits& limits = target_limits(target);
  for (const Step& step : algorithm.steps) {
    const OpInfo& info = op_info(step.op);
    if ((info.receives && info.reads_src && !limits.receive_reduce) ||
        (info.receives && info.sends && !limits.fused_send)) {
      return wrong("a step that the target does not run",
                   format("{} for {}", info.name, target_name(target)));
    }
    if (step.count > limits.max_count) {
      return wrong("a step too large for the target", format("count {}", step.count));
    }
  }
  return {};
}

// The same program gives the same algorithm, which the verifier proves pass by pass, and both of
// our forms give it back.
Outcome check_forms(const Program& program, const CompileOptions& options,
                    const Algorithm& algorithm) {
  CompileOptions proving = options;
  proving.verify = Verify::every_pass;
  try {
    if (compile(program, proving) != algorithm) return wrong("compiled twice, two algorithms", "");
  } catch (const InternalError& e) {
    return wrong("a pass that the verifier refutes", e.what());
  }
  const std::string text = to_text(algorithm);
  if (from_text(text) != algorithm) return wrong("the text form gives another algorithm", text);
  const std::string xml = to_xml(algorithm, {Target::hocket});
  if (from_xml(xml) != algorithm) return wrong("the XML gives another algorithm", xml);
  return {};
}

Outcome check_way(const Program& program, const Way& way, const Checks& checks) {
  CompileOptions options;
  options.target = way.target;
  options.max_bytes = way.max_bytes;
  options.check_limits = false;
  Algorithm algorithm;
  try {
    algorithm = compile(program, options);
  } catch (const Error& e) {
    return wrong("compiler refuses: " + std::string(code_text(e.code())), e.what());
  } catch (const std::exception& e) {
    return wrong("compiler fails", e.what());
  }

  const Trace& trace = program.trace();
  const int before = trace.collective.chunk_factor();
  const int parts = before > 0 ? algorithm.collective.chunk_factor() / before : 0;
  if (parts < 1 || algorithm.collective != trace.collective.refined(parts)) {
    return wrong("not a refinement of the collective", format("{} parts", parts));
  }
  if (algorithm.max_bytes != way.max_bytes) return wrong("another size range", "");
  if (Outcome o = check_target(algorithm, way.target); !o.right) {
    return o;
  }

  oracle::JudgeOptions judging;
  judging.target = way.target;
  judging.postcondition = false;  // a random allreduce is none; compared with the meaning below
  judging.structure.loader_rules = way.target != Target::hocket;
  const Verdict verdict = oracle::judge(algorithm, judging);
  if (!verdict.clean()) {
    return wrong(std::string("judge: ") + oracle::finding_kind_name(verdict.findings[0].kind),
                 oracle::str(verdict.findings));
  }
  const Interpretation meaning = oracle::interpret(trace, parts);
  if (Outcome o = compare(trace, algorithm, verdict, meaning); !o.right) {
    return o;
  }
  if (checks.forms) {
    if (Outcome o = check_forms(program, options, algorithm); !o.right) {
      return o;
    }
  }
  if (checks.execute) {
    if (const std::string text = execute_and_compare(algorithm, meaning, *checks.execute);
        !text.empty()) {
      return wrong("wrong data", text);
    }
  }
  return {};
}

}  // namespace

Program program_of(const ProgramSpec& spec) {
  // Once to learn what it computes, and once as the collective that asks for it.
  Program first = replay(spec, collective_of(spec));
  if (spec.collective.kind != CollectiveKind::custom) return first;
  const Interpretation meaning = oracle::interpret(first.trace(), 1);
  return replay(spec, collective_of(spec, requirements(spec, meaning)));
}

Outcome check_program(const ProgramSpec& spec, const Checks& checks) {
  try {
    const Program program = program_of(spec);
    if (spec.collective.kind == CollectiveKind::custom && !program.check().ok()) {
      return wrong("check() and the interpreter differ", program.check().str());
    }
    for (const Way& way : checks.ways) {
      Outcome outcome = check_way(program, way, checks);
      if (!outcome.right) {
        outcome.text = format("target {}, {}\n{}", target_name(way.target),
                              way.max_bytes ? format("up to {} bytes", *way.max_bytes) : "any size",
                              outcome.text);
        return outcome;
      }
    }
    return {};
  } catch (const Error& e) {
    return wrong("language refuses: " + std::string(code_text(e.code())), e.what());
  } catch (const std::exception& e) {
    return wrong("language fails", e.what());
  }
}

std::string report(const ProgramSpec& spec, const Outcome& outcome) {
  return outcome.fault + "\n" + outcome.text + "\n" + listing(spec);
}

}  // namespace hocket::random_test
