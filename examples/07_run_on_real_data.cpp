// Your own numbers through an algorithm, in this process.
//
// LocalExecutor checks and plans an algorithm once and runs it any number of times on buffers that
// you own. All ranks are here, so nothing but this program is needed. Any number of elements will
// do: 10 elements in 4 chunks are cut at 0, 2, 5, 7 and 10.
//
// What you see here: make_algorithm() from the library, LocalExecutor::run(), other operators and
// types, in place.
#include <hocket/hocket.h>

#include <iostream>

using namespace hocket;

constexpr std::size_t kRanks = 4;
constexpr std::size_t kCount = 10;

// Rank r's i-th number.
std::vector<std::int64_t> numbers(std::size_t rank) {
  std::vector<std::int64_t> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    values[i] = static_cast<std::int64_t>(100 * rank + i * i % 7);
  }
  return values;
}

void print(const std::string& what, const std::vector<std::int64_t>& values) {
  std::cout << what << ":";
  for (const std::int64_t v : values) std::cout << " " << v;
  std::cout << "\n";
}

std::byte* bytes(std::vector<std::int64_t>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

int main() {
  const Program program = make_algorithm("allreduce_ring", {{"ranks", "4"}});
  LocalExecutor executor(compile(program));

  std::vector<std::vector<std::int64_t>> inputs, outputs;
  std::vector<RankBuffers> buffers;
  for (std::size_t r = 0; r < kRanks; ++r) {
    inputs.push_back(numbers(r));
    outputs.emplace_back(kCount, -1);
  }
  for (std::size_t r = 0; r < kRanks; ++r) buffers.push_back({bytes(inputs[r]), bytes(outputs[r])});

  print("rank 1 has", inputs[1]);
  // One plan, several calls: another operator, other data.
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
    executor.run(buffers, {.type = DataType::int64, .op = op, .count = kCount});
    print(std::string(reduce_op_name(op)) + " on rank 2", outputs[2]);
  }
  bool same = true;
  for (std::size_t r = 0; r < kRanks; ++r) same = same && outputs[r] == outputs[0];
  std::cout << "all ranks have the same: " << (same ? "yes" : "no") << "\n";

  // In place: the algorithm is made for it, and input and output are one buffer.
  const Program in_place = make_algorithm("allreduce_ring", {{"ranks", "4"}, {"in_place", "true"}});
  LocalExecutor in_place_executor(compile(in_place));
  buffers.clear();
  for (std::vector<std::int64_t>& values : inputs)
    buffers.push_back({bytes(values), bytes(values)});
  in_place_executor.run(buffers, {.type = DataType::int64, .count = kCount, .in_place = true});
  print("sum in place on rank 3", inputs[3]);
}
