// One rung in a process of its own: steps, seconds of each stage, and the peak memory a step.
//
//     compile_peak allreduce_ring 512
//     compile_peak                     (every rung, each in a child process, and the growth of time
//     with steps)
//     compile_peak --passes allreduce_ring 512    (milliseconds of each pass of the compiler)
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/compile.h"
#include "hocket/format.h"
#include "ladder_programs.h"

namespace {

// Processor time: what else the machine is doing does not count.
double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

struct Result {
  std::int64_t steps = 0;
  double trace = 0;
  double compile = 0;
  double write = 0;
  double bytes_a_step = 0;
};

Result measure(const hocket::ladders::Ladder& ladder, int rung) {
  const std::int64_t before = peak_bytes();
  Result r;
  // The program is not needed once it is compiled.
  const hocket::Algorithm algorithm = [&] {
    const double start = now();
    const hocket::Program program = ladder.make(rung);
    const double traced = now();
    hocket::Algorithm compiled = hocket::compile(program);
    r.trace = traced - start;
    r.compile = now() - traced;
    return compiled;
  }();
  const double start = now();
  const std::string xml = hocket::to_xml(algorithm, {.target = hocket::Target::msccl});
  r.write = now() - start;
  r.steps = static_cast<std::int64_t>(algorithm.steps.size());
  r.bytes_a_step = static_cast<double>(peak_bytes() - before) / static_cast<double>(r.steps);
  return r;
}

// In a child, so that each rung has a peak of its own.
Result measure_apart(const hocket::ladders::Ladder& ladder, int rung) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const Result r = measure(ladder, rung);
    const bool written = write(ends[1], &r, sizeof r) == sizeof r;
    _exit(written ? 0 : 1);
  }
  Result r;
  close(ends[1]);
  if (read(ends[0], &r, sizeof r) != sizeof r) std::abort();
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return r;
}

// The best of five of each pass, and the peak of memory when it first ended.
int print_passes(const hocket::ladders::Ladder& ladder, int rung) {
  const hocket::Program program = ladder.make(rung);
  struct Pass {
    std::string name;
    double seconds = 0;
    std::int64_t peak = 0;
  };
  std::vector<Pass> best;
  fmt::print("{:<20} peak {:.1f} MB\n", "trace", static_cast<double>(peak_bytes()) * 1e-6);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::size_t at = 0;
    double before = now();
    const auto done = [&](std::string_view pass) {
      const double after = now();
      if (at == best.size()) best.push_back({std::string(pass), after - before, peak_bytes()});
      best[at].seconds = std::min(best[at].seconds, after - before);
      ++at;
      before = now();
    };
    hocket::CompileOptions options;
    options.observer = [&](std::string_view pass, const std::string&) { done(pass); };
    const hocket::Algorithm algorithm = hocket::compile(program, options);
    done("emit");
  }
  for (const Pass& pass : best) {
    fmt::print("{:<20} {:8.2f} ms, peak {:.1f} MB\n", pass.name, pass.seconds * 1e3,
               static_cast<double>(pass.peak) * 1e-6);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && argv[1] == std::string("--passes")) {
    for (const hocket::ladders::Ladder& ladder : hocket::ladders::all()) {
      if (ladder.name == argv[2]) return print_passes(ladder, std::atoi(argv[3]));
    }
    fmt::print(stderr, "compile_peak: no ladder {}\n", argv[2]);
    return 2;
  }
  for (const hocket::ladders::Ladder& ladder : hocket::ladders::all()) {
    if (argc > 1 && ladder.name != argv[1]) continue;
    fmt::print("| {} | steps | trace ms | compile ms | write ms | M steps/s | bytes a step |\n",
               ladder.name);
    fmt::print("|---|---|---|---|---|---|---|\n");
    // Least squares of log time on log steps, over the rungs of 10,000 steps or more.
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (const int rung : ladder.rungs) {
      if (argc > 2 && rung != std::atoi(argv[2])) continue;
      Result best = measure_apart(ladder, rung);
      for (int repeat = 0; repeat < 4; ++repeat) {
        const Result again = measure_apart(ladder, rung);
        if (again.trace + again.compile + again.write < best.trace + best.compile + best.write)
          best = again;
      }
      const double total = best.trace + best.compile + best.write;
      fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} |\n", rung, best.steps,
                 best.trace * 1e3, best.compile * 1e3, best.write * 1e3,
                 static_cast<double>(best.steps) / total / 1e6, best.bytes_a_step);
      if (best.steps >= 10000) {
        const double x = std::log(static_cast<double>(best.steps));
        const double y = std::log(total);
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
      }
    }
    if (n >= 2)
      fmt::print("\ntime grows as steps^{:.3f}\n", (n * sxy - sx * sy) / (n * sxx - sx * sx));
    fmt::print("\n");
  }
  return 0;
}
