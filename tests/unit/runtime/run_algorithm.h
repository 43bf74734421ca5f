// Runs an algorithm on typed vectors, in place or not, and computes what a collective means element
// by element, straight from its definition: no chunks, no layout, no shared code.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include "hocket/runtime.h"

namespace hocket::test {

template <typename T>
using PerRank = std::vector<std::vector<T>>;  // [rank][element]

template <typename T>
std::byte* bytes_of(std::vector<T>& v) {
  return reinterpret_cast<std::byte*>(v.data());
}

// Whole output buffers of a call, in place if `options` say so. `inputs` are a rank's
// contributions, and are seen again by the caller in `inputs` as the call left them (out of place
// only).
template <typename T>
PerRank<T> run(LocalExecutor& executor, PerRank<T>& inputs, const RunOptions& options, T fill) {
  const Collective& c = executor.algorithm().collective;
  const auto ranks = static_cast<std::size_t>(c.num_ranks());
  PerRank<T> outputs(ranks);
  PerRank<T> memory(ranks);  // in place
  std::vector<RankBuffers> buffers(ranks);
  const auto input_size = [&](std::size_t r) {
    return static_cast<std::size_t>(input_elements(c, static_cast<int>(r), options.count));
  };
  const auto output_size = [&](std::size_t r) {
    return static_cast<std::size_t>(output_elements(c, static_cast<int>(r), options.count));
  };
  std::vector<std::size_t> input_at(ranks, 0);
  std::vector<std::size_t> output_at(ranks, 0);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (inputs[r].size() != input_size(r)) throw std::logic_error("an input of the wrong size");
    if (!options.in_place) {
      outputs[r].assign(output_size(r), fill);
      buffers[r] = {bytes_of(inputs[r]), bytes_of(outputs[r])};
      continue;
    }
    const std::size_t own = r * static_cast<std::size_t>(options.count);
    const bool root = static_cast<int>(r) == c.root();
    std::size_t size = std::max(input_size(r), output_size(r));
    switch (c.kind()) {
      case CollectiveKind::allgather:
        input_at[r] = own;
        break;
      case CollectiveKind::reduce_scatter:
        output_at[r] = own;
        break;
      case CollectiveKind::gather:
        if (root) input_at[r] = own;
        break;
      case CollectiveKind::scatter:
        if (root) output_at[r] = own;
        break;
      default:
        break;
    }
    size = std::max({size, input_at[r] + input_size(r), output_at[r] + output_size(r)});
    memory[r].assign(size, fill);
    std::copy(inputs[r].begin(), inputs[r].end(),
              memory[r].begin() + static_cast<std::ptrdiff_t>(input_at[r]));
    const auto at = [&](std::size_t element) { return bytes_of(memory[r]) + element * sizeof(T); };
    buffers[r] = {at(input_at[r]), at(output_at[r])};
  }
  executor.run(buffers, options);
  for (std::size_t r = 0; r < ranks && options.in_place; ++r) {
    const auto start = memory[r].begin() + static_cast<std::ptrdiff_t>(output_at[r]);
    outputs[r].assign(start, start + static_cast<std::ptrdiff_t>(output_size(r)));
  }
  return outputs;
}

template <typename T>
PerRank<T> random_inputs(const Collective& c, std::int64_t count, std::uint64_t seed,
                         const std::function<T(std::mt19937_64&)>& draw) {
  std::mt19937_64 random(seed);
  PerRank<T> inputs(static_cast<std::size_t>(c.num_ranks()));
  for (int r = 0; r < c.num_ranks(); ++r) {
    inputs[static_cast<std::size_t>(r)].resize(
        static_cast<std::size_t>(input_elements(c, r, count)));
    for (T& x : inputs[static_cast<std::size_t>(r)]) x = draw(random);
  }
  return inputs;
}

// What the output must be; `untouched` where the collective says nothing.
template <typename T>
PerRank<T> defined_result(const Collective& c, std::int64_t count, const PerRank<T>& in,
                          const std::function<T(T, T)>& combine, T untouched) {
  const auto ranks = static_cast<std::size_t>(c.num_ranks());
  const auto n = static_cast<std::size_t>(count);
  const auto root = static_cast<std::size_t>(c.root());
  const auto total = [&](std::size_t element) {
    T sum = in[0][element];
    for (std::size_t q = 1; q < ranks; ++q) sum = combine(sum, in[q][element]);
    return sum;
  };
  PerRank<T> out(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    out[r].assign(static_cast<std::size_t>(output_elements(c, static_cast<int>(r), count)),
                  untouched);
    for (std::size_t x = 0; x < out[r].size(); ++x) {
      switch (c.kind()) {
        case CollectiveKind::allreduce:
          out[r][x] = total(x);
          break;
        case CollectiveKind::reduce:
          if (r == root) out[r][x] = total(x);
          break;
        case CollectiveKind::reduce_scatter:
          out[r][x] = total(r * n + x);
          break;
        case CollectiveKind::allgather:
        case CollectiveKind::gather:
          out[r][x] = in[x / n][x % n];
          break;
        case CollectiveKind::alltoall:
          out[r][x] = in[x / n][r * n + x % n];
          break;
        case CollectiveKind::broadcast:
          out[r][x] = in[root][x];
          break;
        case CollectiveKind::scatter:
          out[r][x] = in[root][r * n + x];
          break;
        case CollectiveKind::all_to_next_forward:
          if (r > 0) out[r][x] = in[r - 1][x];
          break;
        case CollectiveKind::all_to_next_backward:
          if (r + 1 < ranks) out[r][x] = in[r + 1][x];
          break;
        case CollectiveKind::custom:
          break;
      }
    }
  }
  return out;
}

}  // namespace hocket::test
