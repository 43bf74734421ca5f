// Runs an algorithm on real data in this process.
//
//     LocalExecutor executor(algorithm);                    // checks and plans once
//     executor.run(buffers, {.type = DataType::float32, .op = ReduceOp::sum, .count = 1 << 20});
//
// Every threadblock of every rank is a resumable state machine; a small pool of threads runs those
// that can go on, so 64 ranks on 2 cores make progress. Connections are bounded single-producer
// single-consumer rings with the protocol's slots. Steps work tile by tile, as the GPU runtimes do.
// An algorithm that deadlocks on the runtimes deadlocks here, and is reported instead of hanging.
// This part links no compiler.
//
// Sizes. `count` is the elements that chunk_factor chunks hold: what a rank contributes to an
// allreduce or an allgather, gets from a reduce_scatter, sends to each other rank of an alltoall,
// as in the MPI and NCCL calls. A buffer of K chunks is K / chunk_factor such parts (custom
// collectives may end in a piece of one), and a part is cut at floor(i * count / chunk_factor): any
// count works, 0 and counts below the chunk factor included.
//
// Where count does not divide, chunks differ in length by one element. A shorter chunk then behaves
// as if it had one more element, which starts as zero and is dropped at the end: data on its way
// through a shorter place loses nothing. docs/runtime.md says it in full.
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
std::size_t data_type_size(DataType type);  // bytes
std::vector<DataType> all_data_types();

// Integers wrap around. float16 and bfloat16 compute in float32 and round to nearest even after
// every application. min and max of a NaN and anything is a NaN.
enum class ReduceOp : std::uint8_t { sum, prod, min, max };
std::string_view reduce_op_name(ReduceOp op);
std::optional<ReduceOp> reduce_op_from_name(std::string_view name);
std::vector<ReduceOp> all_reduce_ops();

// A rank's user buffers, of any alignment. A buffer that no step of the rank touches may be null.
// Input is written only where the algorithm writes it, output only where it does.
//
// An output overlaps no buffer of another rank; inputs may be shared. Out of place the two of a
// rank must not overlap either. In place they alias as the collective says:
//   allgather, gather (root)          input is output + rank * count elements
//   reduce_scatter, scatter (root)    output is input + rank * count elements
//   gather, scatter (other ranks)     they have one buffer each
//   all others                        input is output
// and the one that lies inside the other, or either of two equal ones, may be null.
struct RankBuffers {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

// How many elements a rank's buffers have for a call of `count`. HK0702: a negative count, or more
// elements than 63 bits number.
std::int64_t input_elements(const Collective& collective, int rank, std::int64_t count);
std::int64_t output_elements(const Collective& collective, int rank, std::int64_t count);

struct RunOptions {
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::int64_t count = 0;
  bool in_place = false;
  int threads = 0;           // 0: as many as cores; never more than threadblocks
  std::optional<int> slots;  // of a connection; none: the protocol's
  // Chunks that one transfer may carry: a step of more is cut into pieces, each of which takes a
  // slot, so a small number makes deadlocks show. None: the runtimes' rule, which depends on the
  // message size: what fits into a transfer of the protocol, at least 1 and at most 71.
  std::optional<int> chunks_per_transfer;
  // Bytes that one transfer carries at most. 0: chosen for the cache and the memory that all
  // connections need together. Changes speed only, never what deadlocks or the result.
  std::int64_t tile_bytes = 0;
};

class LocalExecutor {
 public:
  // Checks what execution relies on (peers, owners and balance of connections, operand ranges,
  // dependences): HK0703, at the step's source line where that is known. Linear in steps.
  explicit LocalExecutor(Algorithm algorithm);
  ~LocalExecutor();
  LocalExecutor(LocalExecutor&&) noexcept;
  LocalExecutor& operator=(LocalExecutor&&) noexcept;

  // One call, returns when every rank has finished. Throws HK0702 (buffers or options), HK0701
  // (deadlock, with who waits for whom; the outputs are then partly written). May be called any
  // number of times, after errors too. Not reentrant: one call at a time.
  void run(std::span<const RankBuffers> buffers, const RunOptions& options);

  const Algorithm& algorithm() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The first element that is not what the postcondition says, by rank, buffer and offset.
struct DataMismatch {
  int rank = 0;
  BufferKind buffer = BufferKind::output;
  std::int64_t offset = 0;  // elements
  std::string expected;
  std::string found;
  std::int64_t wrong = 0;  // elements wrong in all, in the first repeat that is wrong
};
// "rank 1 output element 17 is 5, expected 12; 3 elements wrong in all"
std::string describe(const DataMismatch& mismatch);

struct SelfTestResult {
  double seconds = 0;              // median of the timed runs
  std::int64_t bytes = 0;          // nccl-tests' size: the larger buffer of any rank
  double algorithm_bandwidth = 0;  // bytes / seconds, GB/s = 1e9 B/s
  double bus_bandwidth = 0;        // times nccl-tests' factor of the collective
  std::optional<DataMismatch> mismatch;
  bool checked = false;  // false: not asked for, or the collective has no postcondition
};

// Makes buffers, fills them so that misplaced, missing or doubled chunks show, runs `repeats` times
// with new inputs each, compares every element that the postcondition names, exactly: the inputs
// are such that no order of the reductions changes a bit. Stops after the first wrong repeat.
struct SelfTestOptions {
  RunOptions run;
  int repeats = 1;  // at least 1
  bool check = true;
  std::uint64_t seed = 1;
};
SelfTestResult self_test(LocalExecutor& executor, const SelfTestOptions& options);

// nccl-tests' bus bandwidth factor: 2(n-1)/n for allreduce, (n-1)/n for allgather, reduce_scatter
// and alltoall, 1 otherwise. Source: nccl-tests, doc/PERFORMANCE.md.
double bus_factor(CollectiveKind kind, int ranks);

}  // namespace hocket
