// The arithmetic of the runtime alone, a = a (+) b on one core: GB/s of what is read and written
// (three times the bytes of an operand), by type, operator, instruction set and size.
//
//     reduce_speed --benchmark_filter=float32/sum
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <hwy/targets.h>

#include <string>
#include <vector>

#include "runtime/reduce_kernels.h"

namespace {

void reduce(benchmark::State& state, hocket::runtime::ReduceKernel kernel, std::size_t element,
            std::size_t bytes) {
  // Small numbers in every type: sums of subnormals or NaNs would cost more.
  std::vector<std::byte> a(bytes, std::byte{0x10});
  const std::vector<std::byte> b(bytes, std::byte{0x11});
  const auto n = static_cast<std::int64_t>(bytes / element);
  for (auto _ : state) {
    kernel(a.data(), a.data(), b.data(), n);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(3 * bytes));
}

void choose(std::int64_t instruction_set) {
  hwy::SetSupportedTargetsForTest(instruction_set);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::int64_t> instruction_sets = hwy::SupportedAndGeneratedTargets();
  for (const hocket::DataType type : hocket::all_data_types()) {
    for (const hocket::ReduceOp op : hocket::all_reduce_ops()) {
      for (const std::int64_t instruction_set : instruction_sets) {
        choose(instruction_set);
        const auto kernel = hocket::runtime::reduce_kernel(type, op);
        for (const std::size_t kib : {16U, 512U, 16384U}) {
          benchmark::RegisterBenchmark(
              fmt::format("{}/{}/{}/{}KiB", hocket::data_type_name(type),
                          hocket::reduce_op_name(op), hwy::TargetName(instruction_set), kib)
                  .c_str(),
              reduce, kernel, hocket::data_type_size(type), kib << 10);
        }
      }
    }
  }
  choose(0);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
