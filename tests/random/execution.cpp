#include "random/execution.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "hocket/runtime.h"

namespace hocket::random_test {
namespace {

using fmt::format;

// The documented rule: a part of `count` elements is cut at floor(i * count / F), F the chunk
// factor.
std::int64_t chunk_start(const Collective& collective, std::int64_t count, int chunk) {
  const std::int64_t factor = collective.chunk_factor();
  return chunk / factor * count + chunk % factor * count / factor;
}

// Small whole numbers, so that sums are exact in float32 too: below 2^12, at most 2^11
// contributions.
int value_of(const Origin& origin, std::int64_t element) {
  std::uint64_t x = static_cast<std::uint64_t>(origin.rank) * 0x9E3779B97F4A7C15U +
                    static_cast<std::uint64_t>(origin.index) * 0xC2B2AE3D27D4EB4FU +
                    static_cast<std::uint64_t>(element) * 0x165667B19E3779F9U;
  x ^= x >> 29U;
  x *= 0xBF58476D1CE4E5B9U;
  x ^= x >> 32U;
  return static_cast<int>(x % 4096);
}

// The memory of one rank's user buffers: `output` may lie inside `input` or the other way round.
template <typename T>
struct RankMemory {
  std::vector<T> input_storage;
  std::vector<T> output_storage;
  T* input = nullptr;
  T* output = nullptr;
};

template <typename T>
class Execution {
 public:
  Execution(const Algorithm& algorithm, std::int64_t count)
      : algorithm_(algorithm), collective_(algorithm.collective), count_(count) {
    for (int r = 0; r < collective_.num_ranks(); ++r) ranks_.push_back(make_rank(r));
    for (int r = 0; r < collective_.num_ranks(); ++r) fill(r);
  }

  void run(DataType type, int threads) {
    LocalExecutor executor(algorithm_);
    std::vector<RankBuffers> buffers;
    for (auto& rank : ranks_) {
      buffers.push_back(
          {reinterpret_cast<std::byte*>(rank.input), reinterpret_cast<std::byte*>(rank.output)});
    }
    RunOptions options;
    options.type = type;
    options.count = count_;
    options.in_place = collective_.in_place();
    options.threads = threads;
    executor.run(buffers, options);
  }

  std::string compare(const oracle::Interpretation& meaning) {
    // Where chunks are of two lengths, what happens to the last element of the longer ones depends
    // on the places a chunk visits; all others are exactly the program's.
    const std::int64_t whole = count_ / collective_.chunk_factor();
    for (int r = 0; r < collective_.num_ranks(); ++r) {
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        for (int i = 0; i < collective_.chunks(r, kind); ++i) {
          if (collective_.expected(r, {kind, i}).kind == Expected::Kind::any) continue;
          const auto content = oracle::content_of(meaning, r, collective_.alias(r, {kind, i}));
          if (!content) continue;
          for (std::int64_t e = 0; e < whole; ++e) {
            T wanted = 0;
            for (const Origin& origin : *content) {
              wanted = static_cast<T>(wanted + static_cast<T>(value_of(origin, e)));
            }
            const T found = base(r, kind)[chunk_start(collective_, count_, i) + e];
            if (found == wanted) continue;
            return format("{} elements: rank {} {}[{}] element {} is {}, not {}", count_, r,
                          buffer_kind_name(kind), i, e, found, wanted);
          }
        }
      }
    }
    return {};
  }

 private:
  T* base(int rank, BufferKind kind) {
    RankMemory<T>& memory = ranks_[static_cast<std::size_t>(rank)];
    return kind == BufferKind::input ? memory.input : memory.output;
  }

  RankMemory<T> make_rank(int r) {
    RankMemory<T> memory;
    const auto in = static_cast<std::size_t>(input_elements(collective_, r, count_));
    const auto out = static_cast<std::size_t>(output_elements(collective_, r, count_));
    const T junk = static_cast<T>(1'000'000);
    memory.input_storage.assign(std::max(in, out) + 1, junk);
    memory.output_storage.assign(std::max(in, out) + 1, junk);
    memory.input = memory.input_storage.data();
    memory.output = memory.output_storage.data();
    if (!collective_.in_place()) return memory;
    switch (collective_.kind()) {
      case CollectiveKind::allgather:
        memory.input = memory.output + r * count_;
        break;
      case CollectiveKind::gather:
        if (r == collective_.root()) memory.input = memory.output + r * count_;
        break;
      case CollectiveKind::reduce_scatter:
        memory.output = memory.input + r * count_;
        break;
      case CollectiveKind::scatter:
        if (r == collective_.root()) memory.output = memory.input + r * count_;
        break;
      default:
        memory.output = memory.input;
    }
    return memory;
  }

  void fill(int r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < collective_.chunks(r, kind); ++i) {
        const auto origin = collective_.initial(r, {kind, i});
        if (!origin) continue;
        const std::int64_t from = chunk_start(collective_, count_, i);
        const std::int64_t to = chunk_start(collective_, count_, i + 1);
        for (std::int64_t e = 0; e < to - from; ++e) {
          base(r, kind)[from + e] = static_cast<T>(value_of(*origin, e));
        }
      }
    }
  }

  const Algorithm& algorithm_;
  const Collective& collective_;
  const std::int64_t count_;
  std::vector<RankMemory<T>> ranks_;
};

template <typename T>
std::string run_as(const Algorithm& algorithm, const oracle::Interpretation& meaning, DataType type,
                   std::int64_t count, int threads) {
  try {
    Execution<T> execution(algorithm, count);
    execution.run(type, threads);
    return execution.compare(meaning);
  } catch (const std::exception& e) {
    return format("{} elements: {}", count, e.what());
  }
}

}  // namespace

std::string execute_and_compare(const Algorithm& algorithm, const oracle::Interpretation& meaning,
                                std::uint64_t choice) {
  const std::int64_t factor = algorithm.collective.chunk_factor();
  const auto pieces = static_cast<std::int64_t>(choice % 7);
  // Elements a chunk: 0 to 6, and a rest that does not divide in most cases.
  const std::int64_t count =
      pieces * factor + static_cast<std::int64_t>(choice / 7 % static_cast<std::uint64_t>(factor));
  const int threads = 1 + static_cast<int>(choice / 64 % 2);
  return choice % 2 == 0
             ? run_as<float>(algorithm, meaning, DataType::float32, count, threads)
             : run_as<std::int32_t>(algorithm, meaning, DataType::int32, count, threads);
}

}  // namespace hocket::random_test
