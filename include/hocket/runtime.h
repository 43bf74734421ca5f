// Runs an algorithm on real data in this process.
//
//     LocalExecutor run(algorithm);                       // checks and plans once
//     run(buffers, {.type = DataType::float32, .op = ReduceOp::sum});   // any number of times
//
// Every threadblock of every rank is a resumable state machine; a small pool of threads runs those that
// can go on, so 64 ranks on 2 cores make progress. Connections are bounded single-producer single-consumer
// rings with the protocol's slots. A step works on tiles (Simple and friends: what one transfer
// carries). This part links no compiler.
//
// Sizes. `count` is elements of the smaller user buffer of a rank (of both, where they are equal; of
// one rank's part for alltoall: count * ranks elements each way), as in the MPI and NCCL calls. A buffer part of
// `count` elements with k chunks is cut at floor(i*count/k): any count works, 0 and counts below k
// included. Where a program moves a chunk into a place whose chunk is one element longer or shorter, the
// missing element reads as zero and the surplus one is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/diagnostic.h"

namespace hocket {

enum class DataType : std::uint8_t { float32, float64, int32, int64, uint8, float16, bfloat16 };
std::string_view data_type_name(DataType type);
std::optional<DataType> data_type_from_name(std::string_view name);
std::size_t data_type_size(DataType type);
std::vector<DataType> all_data_types();

enum class ReduceOp : std::uint8_t { sum, prod, min, max };
std::string_view reduce_op_name(ReduceOp op);
std::optional<ReduceOp> reduce_op_from_name(std::string_view name);
std::vector<ReduceOp> all_reduce_ops();

// A rank's user buffers. `output` may alias `input` exactly as the collective's in-place rule says.
// Input is read, and written only where the algorithm writes it.
struct RankBuffers {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

// How many elements a rank's buffers have for a call of `count`.
std::int64_t input_elements(const Collective& collective, int rank, std::int64_t count);
std::int64_t output_elements(const Collective& collective, int rank, std::int64_t count);

struct RunOptions {
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::int64_t count = 0;
  bool in_place = false;
  int threads = 0;                 // 0: as many as cores, at most one a threadblock
  std::optional<int> slots;        // of a connection; none: the protocol's
  std::int64_t tile_bytes = 0;     // 0: what a transfer of the protocol carries, or a cache-sized tile
};

class LocalExecutor {
 public:
  // Checks what execution relies on (peers, owners of connections, ranges, dependences): HK0703.
  explicit LocalExecutor(Algorithm algorithm);
  ~LocalExecutor();
  LocalExecutor(LocalExecutor&&) noexcept;
  LocalExecutor& operator=(LocalExecutor&&) noexcept;

  // One call, returns when every rank has finished. Throws HK0702 (buffers), HK0701 (deadlock, with who
  // waits for whom). Not reentrant: one call at a time.
  void run(std::span<const RankBuffers> buffers, const RunOptions& options);

  const Algorithm& algorithm() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The first element that is not what the postcondition says.
struct DataMismatch {
  int rank = 0;
  BufferKind buffer = BufferKind::output;
  std::int64_t offset = 0;  // elements
  std::string expected;
  std::string found;
  std::int64_t wrong = 0;  // elements wrong in all
};

struct SelfTestResult {
  double seconds = 0;              // median of the timed runs
  std::int64_t bytes = 0;          // nccl-tests' size: count * type of the larger buffer
  double algorithm_bandwidth = 0;  // GB/s = 1e9 B/s
  double bus_bandwidth = 0;        // nccl-tests' factor of the collective
  std::optional<DataMismatch> mismatch;
  bool checked = false;
};

// Makes buffers, fills them so that every misplaced, missing or doubled chunk shows, runs `repeats` times
// with new inputs each, compares every element that the postcondition names.
struct SelfTestOptions {
  RunOptions run;
  int repeats = 1;
  bool check = true;
  std::uint64_t seed = 1;
};
SelfTestResult self_test(LocalExecutor& executor, const SelfTestOptions& options);

// nccl-tests' bus bandwidth factor: 2(n-1)/n for allreduce, (n-1)/n for allgather, reduce_scatter and
// alltoall, 1 otherwise. Source: nccl-tests, doc/PERFORMANCE.md.
double bus_factor(CollectiveKind kind, int ranks);

}  // namespace hocket
