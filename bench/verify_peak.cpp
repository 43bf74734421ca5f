// What it costs to verify: each rung in a process of its own, all properties on, one core.
//
//     verify_peak                       (every rung, and the growth of time with steps)
//     verify_peak allreduce_ring 724    (one rung)
//
// Peak bytes are what verify() adds to the process that holds the algorithm.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "hocket/compile.h"
#include "hocket/verify.h"
#include "ladder_programs.h"

namespace {

// Processor time: what else the machine is doing does not count.
double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t whole = 0;
  std::int64_t resident = 0;
  statm >> whole >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// The kernel forgets the peak so far, so that what compiling took does not hide what verifying
// does.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::atoll(line.c_str() + 6) * 1024;
  }
  return 0;
}

struct Result {
  std::int64_t steps = 0;
  double seconds = 0;
  std::int64_t bytes = 0;
  bool proved = false;
};

Result measure(const hocket::ladders::Ladder& ladder, int rung) {
  const hocket::Algorithm algorithm = hocket::compile(ladder.make(rung));
  malloc_trim(0);
  forget_peak();
  const std::int64_t before = resident_bytes();
  Result r;
  const double start = now();
  const hocket::VerifyReport report = hocket::verify(algorithm);
  r.seconds = now() - start;
  r.steps = static_cast<std::int64_t>(algorithm.steps.size());
  r.bytes = peak_bytes() - before;
  r.proved = report.ruling() == hocket::Ruling::proved;
  return r;
}

// In a child, so that no rung profits from what another has allocated.
Result measure_apart(const hocket::ladders::Ladder& ladder, int rung) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const Result r = measure(ladder, rung);
    const bool written = write(ends[1], &r, sizeof r) == sizeof r;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Result r;
  if (read(ends[0], &r, sizeof r) != sizeof r) std::abort();
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return r;
}

// A million steps and more, beyond the rungs on which compiling is measured.
std::vector<int> rungs_of(const hocket::ladders::Ladder& ladder) {
  std::vector<int> rungs = ladder.rungs;
  if (ladder.name == "allreduce_ring" || ladder.name == "alltoall_allpairs") rungs.push_back(724);
  if (ladder.name == "alltoall_two_step") rungs.push_back(76);
  return rungs;
}

}  // namespace

int main(int argc, char** argv) {
  for (const hocket::ladders::Ladder& ladder : hocket::ladders::all()) {
    if (argc > 1 && ladder.name != argv[1]) continue;
    fmt::print("| {} | steps | verify ms | M steps/s | peak MB | bytes a step | proved |\n",
               ladder.name);
    fmt::print("|---|---|---|---|---|---|---|\n");
    // Least squares of log time on log steps, over the rungs of 10,000 steps or more.
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (const int rung : argc > 2 ? std::vector<int>{std::atoi(argv[2])} : rungs_of(ladder)) {
      Result best = measure_apart(ladder, rung);
      for (int repeat = 0; repeat < 4; ++repeat) {
        const Result again = measure_apart(ladder, rung);
        if (again.seconds < best.seconds) best = again;
      }
      const auto steps = static_cast<double>(best.steps);
      const auto bytes = static_cast<double>(best.bytes);
      fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.1f} | {:.0f} | {} |\n", rung, best.steps,
                 best.seconds * 1e3, steps / best.seconds / 1e6, bytes / 1e6, bytes / steps,
                 best.proved ? "yes" : "NO");
      if (best.steps >= 10000) {
        const double x = std::log(steps);
        const double y = std::log(best.seconds);
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
      }
    }
    if (n >= 2) {
      fmt::print("\nTime grows as steps^{:.3f}\n", (n * sxy - sx * sy) / (n * sxx - sx * sx));
    }
    fmt::print("\n");
  }
  return 0;
}
