// From a traced program to an algorithm: the driver of the passes.
//
//     Algorithm a = compile(program);                                   // for our own runtime
//     Algorithm b = compile(program, {.target = Target::rccl, .max_bytes = 1 << 20});
//
// The result means what the trace means, in every schedule, for every message size in the range: it
// is free of races and deadlocks by construction (the argument stands in src/passes/schedule.h).
// The same program gives the same bytes, always.
//
// Costs: a few hundred bytes and about a microsecond a step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/diagnostic.h"
#include "hocket/program.h"
#include "hocket/target.h"

namespace hocket {

// What the verifier (hocket/verify.h) is asked to prove on the way.
enum class Verify : std::uint8_t {
  nothing,
  result,      // the algorithm: about a microsecond a step
  every_pass,  // the program after every pass, so that the one that broke it is named: several
               // times as long
};

struct CompileOptions {
  Target target = Target::hocket;
  // Message sizes (bytes of the larger buffer of a rank) that the algorithm must be safe for. Steps
  // of several chunks are cut into more transfers the larger the message, so an upper limit can
  // allow a denser schedule. None: any size.
  std::int64_t min_bytes = 0;
  std::optional<std::int64_t> max_bytes = {};
  // Refuse (HK04xx) what the target would not load. Off: emit it all the same.
  bool check_limits = true;
  // A refuted result is an InternalError: a bug of ours. The postcondition is left out where the
  // program itself does not implement its collective.
#ifdef NDEBUG
  Verify verify = Verify::nothing;
#else
  Verify verify = Verify::result;
#endif
  // Called after each pass with the pass's name and, if `print_after` names it (or is "all"), a
  // printout of the program as that pass left it.
  std::string print_after = {};
  std::function<void(std::string_view pass, const std::string& printout)> observer = {};
  // Takes the warnings of the program.
  DiagnosticSink warn = {};
};

Algorithm compile(const Program& program, const CompileOptions& options = {});
Algorithm compile(const Trace& trace, const CompileOptions& options = {});

struct PassInfo {
  std::string_view name;     // as --print-after takes it
  std::string_view summary;  // one line
};
// In the order they run.
std::vector<PassInfo> compile_passes();

}  // namespace hocket
