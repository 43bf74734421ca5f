// Calls of more than 2 GiB. Needs about 5 GB of memory, and says so where there is less.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "hocket/runtime.h"
#include "unit/runtime/build_algorithm.h"
#include "unit/runtime/run_algorithm.h"

namespace hocket::test {
namespace {

// 0 where the system does not say.
std::int64_t available_kib() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name;
  std::int64_t value = 0;
  while (meminfo >> name >> value) {
    if (name == "MemAvailable:") return value;
    std::getline(meminfo, name);
  }
  return 0;
}

// Sizes beyond 32 bits: 2^31 + 11 elements of one byte, in place, about 5 GB.
TEST(Sizes, MoreThanTwoGibibytes) {
  const std::int64_t available = available_kib();
  if (available < 6 << 20) {
    GTEST_SKIP() << "needs 6 GiB of available memory, found " << available << " KiB";
  }
  LocalExecutor executor(pair_allreduce_in_place());
  const std::int64_t count = (std::int64_t{1} << 31) + 11;
  std::vector<std::uint8_t> memory[2];
  for (auto& m : memory) m.resize(static_cast<std::size_t>(count));
  const auto value = [](std::size_t rank, std::size_t x) {
    return static_cast<std::uint8_t>((x * 2654435761u >> 7) + rank * (x % 251));
  };
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t x = 0; x < memory[r].size(); ++x) memory[r][x] = value(r, x);
  }
  const std::vector<RankBuffers> buffers = {{bytes_of(memory[0]), nullptr},
                                            {bytes_of(memory[1]), nullptr}};
  executor.run(buffers, {.type = DataType::uint8, .count = count, .in_place = true});
  for (std::size_t r = 0; r < 2; ++r) {
    std::int64_t wrong = 0;
    for (std::size_t x = 0; x < memory[r].size(); ++x) {
      wrong += memory[r][x] != static_cast<std::uint8_t>(value(0, x) + value(1, x));
    }
    EXPECT_EQ(wrong, 0) << "rank " << r;
  }
}

}  // namespace
}  // namespace hocket::test
