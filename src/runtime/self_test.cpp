// Runs an executor on made inputs and compares with the postcondition, read from the collective
// alone.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <tuple>

#include "hocket/runtime.h"
#include "runtime/layout.h"
#include "runtime/test_values.h"

namespace hocket {
namespace {

using runtime::checked_product;
using runtime::Layout;
using runtime::TestValues;

// What the outputs hold before the run: a NaN in floating point, -1 or 255 elsewhere.
constexpr int kPoison = 0xff;

class SelfTest {
 public:
  SelfTest(LocalExecutor& executor, const SelfTestOptions& options)
      : executor_(executor),
        options_(options),
        collective_(executor.algorithm().collective),
        layout_(collective_, options.run.count),
        size_(static_cast<std::int64_t>(data_type_size(options.run.type))),
        values_(options.run.type, options.run.op, most_contributions(collective_), options.seed) {
    if (options.repeats < 1) {
      throw Error(Code::BadBuffers, fmt::format("{} repeats, expected 1 or more", options.repeats));
    }
    allocate();
  }

  SelfTestResult run() {
    SelfTestResult result;
    result.checked = options_.check && collective_.has_postcondition();
    std::vector<double> seconds;
    for (int repeat = 0; repeat < options_.repeats && !result.mismatch; ++repeat) {
      values_.set_repeat(repeat);
      fill();
      const auto start = std::chrono::steady_clock::now();
      executor_.run(buffers_, options_.run);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      seconds.push_back(taken.count());
      if (result.checked) result.mismatch = compare();
    }
    std::sort(seconds.begin(), seconds.end());
    const std::size_t middle = seconds.size() / 2;
    result.seconds =
        seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
    for (int rank = 0; rank < collective_.num_ranks(); ++rank) {
      result.bytes =
          std::max({result.bytes, bytes(rank, BufferKind::input), bytes(rank, BufferKind::output)});
    }
    if (result.seconds > 0) {
      result.algorithm_bandwidth = static_cast<double>(result.bytes) / result.seconds / 1e9;
      result.bus_bandwidth =
          result.algorithm_bandwidth * bus_factor(collective_.kind(), collective_.num_ranks());
    }
    return result;
  }

 private:
  static std::int64_t most_contributions(const Collective& collective) {
    if (collective.kind() != CollectiveKind::custom) return collective.num_ranks();
    std::size_t most = 1;
    for (int rank = 0; rank < collective.num_ranks(); ++rank) {
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        for (int i = 0; i < collective.chunks(rank, kind); ++i) {
          most = std::max(most, collective.expected(rank, {kind, i}).list.size());
        }
      }
    }
    return static_cast<std::int64_t>(most);
  }

  std::int64_t bytes(int rank, BufferKind kind) const {
    return checked_product(layout_.checked_elements(collective_.chunks(rank, kind)), size_);
  }

  void allocate() {
    const auto ranks = static_cast<std::size_t>(collective_.num_ranks());
    memory_.resize(2 * ranks);
    buffers_.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      const int rank = static_cast<int>(r);
      const std::int64_t in = bytes(rank, BufferKind::input);
      const std::int64_t out = bytes(rank, BufferKind::output);
      if (!options_.run.in_place) {
        buffers_[r] = {make(2 * r, in), make(2 * r + 1, out)};
        continue;
      }
      // The memory of the outer buffer; the inner one starts at the rank's own part of it.
      const std::int64_t own = rank * options_.run.count * size_;
      const bool root = rank == collective_.root();
      switch (collective_.kind()) {
        case CollectiveKind::gather:
        case CollectiveKind::scatter:
          if (!root) {
            buffers_[r] = {make(2 * r, in), make(2 * r + 1, out)};
            break;
          }
          [[fallthrough]];
        case CollectiveKind::allgather:
        case CollectiveKind::reduce_scatter: {
          std::byte* outer = make(2 * r, std::max(in, out));
          const bool input_inside = collective_.kind() == CollectiveKind::gather ||
                                    collective_.kind() == CollectiveKind::allgather;
          buffers_[r] =
              input_inside ? RankBuffers{outer + own, outer} : RankBuffers{outer, outer + own};
          break;
        }
        default: {
          std::byte* both = make(2 * r, std::max(in, out));
          buffers_[r] = {both, both};
        }
      }
    }
  }

  std::byte* make(std::size_t i, std::int64_t n) {
    memory_[i] = {std::unique_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(n)]), n};
    return memory_[i].data.get();
  }

  std::byte* place(int rank, Slot slot) const {
    const RankBuffers& of = buffers_[static_cast<std::size_t>(rank)];
    return (slot.buffer == BufferKind::input ? of.input : of.output) +
           layout_.offset(slot.index) * size_;
  }

  // Buffers whose slots are to be read as the collective says. Its output slots start with data,
  // and its input slots end with it, only where it is in place as the call is.
  bool speaks_of(BufferKind kind, BufferKind always) const {
    return kind == always || options_.run.in_place == collective_.in_place();
  }

  void fill() {
    for (const Memory& memory : memory_) {
      if (memory.size > 0) {
        std::memset(memory.data.get(), kPoison, static_cast<std::size_t>(memory.size));
      }
    }
    for (int rank = 0; rank < collective_.num_ranks(); ++rank) {
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        if (!speaks_of(kind, BufferKind::input)) continue;
        for (int i = 0; i < collective_.chunks(rank, kind); ++i) {
          const auto origin = collective_.initial(rank, {kind, i});
          if (!origin) continue;
          values_.origin(place(rank, {kind, i}), *origin,
                         std::min(layout_.length(i), layout_.length(origin->index)));
          pad(rank, {kind, i}, *origin);
        }
      }
    }
  }

  // A slot that is longer than the chunk that it starts with has a zero there.
  void pad(int rank, Slot slot, Origin origin) const {
    const std::int64_t own = layout_.length(origin.index);
    if (layout_.length(slot.index) > own) {
      std::memset(place(rank, slot) + own * size_, 0, static_cast<std::size_t>(size_));
    }
  }

  // Chunk index outside, rank inside: what all ranks must have alike is computed once.
  std::optional<DataMismatch> compare() {
    std::optional<DataMismatch> first;
    std::int64_t wrong = 0;
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      if (!speaks_of(kind, BufferKind::output)) continue;
      int most = 0;
      for (int rank = 0; rank < collective_.num_ranks(); ++rank) {
        most = std::max(most, collective_.chunks(rank, kind));
      }
      for (int i = 0; i < most; ++i) wrong += compare_chunk({kind, i}, first);
    }
    if (first) first->wrong = wrong;
    return first;
  }

  // The slot on every rank that has it.
  std::int64_t compare_chunk(Slot slot, std::optional<DataMismatch>& first) {
    std::int64_t wrong = 0;
    const std::int64_t n = layout_.length(slot.index);
    expected_of_.clear();
    for (int rank = 0; rank < collective_.num_ranks(); ++rank) {
      const Expected expected = collective_.expected(rank, slot);
      if (expected.kind == Expected::Kind::any) continue;
      if (expected.kind == Expected::Kind::list && expected.list.empty()) continue;
      std::vector<TestValues::Part> parts = parts_of(expected);
      if (expected_of_.empty() || !same(parts, expected_of_)) {
        expected_of_ = std::move(parts);
        expected_.resize(static_cast<std::size_t>(n * size_));
        values_.expected(expected_.data(), expected_of_, n);
      }
      wrong += compare_elements(rank, slot, n, first);
    }
    return wrong;
  }

  std::vector<TestValues::Part> parts_of(const Expected& expected) const {
    std::vector<TestValues::Part> parts;
    const auto add = [&](Origin origin) {
      parts.push_back({origin, layout_.length(origin.index)});
    };
    switch (expected.kind) {
      case Expected::Kind::one:
        add(expected.origin);
        break;
      case Expected::Kind::all_ranks:
        for (int r = 0; r < collective_.num_ranks(); ++r) add({r, expected.origin.index});
        break;
      default:
        for (const Origin& origin : expected.list) add(origin);
    }
    return parts;
  }

  static bool same(const std::vector<TestValues::Part>& a, const std::vector<TestValues::Part>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.origin == y.origin; });
  }

  std::int64_t compare_elements(int rank, Slot slot, std::int64_t n,
                                std::optional<DataMismatch>& first) const {
    const std::byte* found = place(rank, slot);
    const std::byte* expected = expected_.data();
    if (n == 0 || std::memcmp(found, expected, static_cast<std::size_t>(n * size_)) == 0) return 0;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::byte* f = found + i * size_;
      const std::byte* e = expected + i * size_;
      if (std::memcmp(f, e, static_cast<std::size_t>(size_)) == 0) continue;
      const std::int64_t offset = layout_.offset(slot.index) + i;
      if (wrong++ == 0 && (!first || std::tie(rank, slot.buffer, offset) <
                                         std::tie(first->rank, first->buffer, first->offset))) {
        first = DataMismatch{rank, slot.buffer, offset, values_.text(e), values_.text(f), 0};
      }
    }
    return wrong;
  }

  struct Memory {
    std::unique_ptr<std::byte[]> data;
    std::int64_t size = 0;
  };

  LocalExecutor& executor_;
  const SelfTestOptions& options_;
  const Collective& collective_;
  Layout layout_;
  std::int64_t size_;
  TestValues values_;
  std::vector<Memory> memory_;
  std::vector<RankBuffers> buffers_;
  std::vector<std::byte> expected_;
  std::vector<TestValues::Part> expected_of_;  // what expected_ holds
};

}  // namespace

SelfTestResult self_test(LocalExecutor& executor, const SelfTestOptions& options) {
  return SelfTest(executor, options).run();
}

std::string describe(const DataMismatch& mismatch) {
  return fmt::format("rank {} {} element {} is {}, expected {}; {} elements wrong in all",
                     mismatch.rank, buffer_kind_name(mismatch.buffer), mismatch.offset,
                     mismatch.found, mismatch.expected, mismatch.wrong);
}

double bus_factor(CollectiveKind kind, int ranks) {
  const double n = ranks;
  switch (kind) {
    case CollectiveKind::allreduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::allgather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::alltoall:
      return (n - 1) / n;
    default:
      return 1;
  }
}

}  // namespace hocket
