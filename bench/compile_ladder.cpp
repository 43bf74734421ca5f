// Trace + compile + write, up each ladder: time a rung, steps a second, and the exponent with which
// time grows with steps (Google Benchmark's JSON has the same counters).
//
//     compile_ladder --benchmark_filter=allreduce_ring
#include <benchmark/benchmark.h>

#include <string>

#include "hocket/compile.h"
#include "hocket/format.h"
#include "ladder_programs.h"

namespace {

void run(benchmark::State& state, const hocket::ladders::Ladder& ladder) {
  std::int64_t steps = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    const hocket::Program program = ladder.make(static_cast<int>(state.range(0)));
    const hocket::Algorithm algorithm = hocket::compile(program);
    const std::string xml = hocket::to_xml(algorithm, {.target = hocket::Target::msccl});
    benchmark::DoNotOptimize(xml.data());
    steps = static_cast<std::int64_t>(algorithm.steps.size());
    bytes = xml.size();
  }
  state.SetItemsProcessed(state.iterations() * steps);
  state.counters["steps"] = static_cast<double>(steps);
  state.counters["xml_bytes"] = static_cast<double>(bytes);
  state.SetComplexityN(steps);
}

}  // namespace

int main(int argc, char** argv) {
  for (const hocket::ladders::Ladder& ladder : hocket::ladders::all()) {
    auto* bench = benchmark::RegisterBenchmark(
        ladder.name.c_str(), [&ladder](benchmark::State& state) { run(state, ladder); });
    for (const int rung : ladder.rungs) bench->Arg(rung);
    bench->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
