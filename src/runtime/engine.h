// Runs a plan on bound memory: every threadblock a resumable state machine, a few workers that
// advance those that can go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/connection.h"
#include "runtime/layout.h"
#include "runtime/plan.h"
#include "runtime/reduce_kernels.h"
#include "runtime/scheduler.h"

namespace hocket::runtime {

// Where a rank's chunks lie, by BufferKind. A user buffer's chunk that is one element shorter than
// chunk_elements() has that element in `missing`, at the chunk's index.
struct RankMemory {
  std::byte* base[3] = {};
  std::byte* missing[2] = {};
};

// One call: sizes, type and memory.
struct Call {
  Layout layout;
  std::int64_t element_size = 0;
  ReduceKernel reduce = nullptr;
  std::int64_t tile = 0;        // elements of each chunk that an iteration works on
  std::int64_t iterations = 0;  // tiles that cover a chunk
  std::int32_t chunks_per_transfer = 1;
  std::int32_t slots = 1;
  std::vector<RankMemory> ranks = {};
  std::vector<std::byte*> connection_memory = {};  // slots of slot_bytes() each

  std::int64_t slot_bytes(const PlanConnection& connection) const;
};

// What a threadblock that cannot go on waits for.
enum class WaitReason : std::uint8_t { nothing, data, slot, step };

// A threadblock's place in its program.
struct Place {
  std::int64_t iteration = 0;
  std::uint32_t step = 0;
  std::int32_t done = 0;  // chunks of the step, in whole pieces
  WaitReason waits_for = WaitReason::nothing;
  bool finished = false;
};

class Engine {
 public:
  // The plan must outlive the engine and keep its address.
  explicit Engine(const Plan& plan);

  // Runs `call` on `threads` workers, the calling thread one of them. True: every threadblock has
  // finished. False: those that place() tells are deadlocked.
  bool run(const Call& call, int threads);

  const Place& place(std::uint32_t tb) const { return machines_[tb].place; }

 private:
  struct alignas(64) Machine {
    Place place;
  };
  // A chunk's elements [tile start, + n): contiguous, but for the last one, which may lie apart.
  template <typename Byte>
  struct Span {
    Byte* body;
    Byte* last;
  };
  using Target = Span<std::byte>;
  using Source = Span<const std::byte>;
  // The tile of the current iteration.
  struct Tile {
    std::int64_t start;
    std::int64_t n;
    std::int64_t body;  // elements that are contiguous everywhere: n, or n - 1
  };

  void work();
  void advance(std::uint32_t tb);
  bool wait_for_step(std::uint32_t tb, const Step& step, Place& place);
  void execute(const PlanThreadBlock& tb, const Step& step, const Place& place, std::int32_t chunks,
               const std::byte* in, std::byte* out) const;
  bool complete_step(std::uint32_t tb, const Step& step, Place& place);

  Tile tile_of(std::int64_t iteration) const;
  Target local(const RankMemory& memory, BufferKind buffer, std::int32_t chunk,
               const Tile& tile) const;
  void copy(const Target& to, const Source& from, const Tile& tile) const;
  void reduce(const Target& to, const Source& a, const Source& b, const Tile& tile) const;

  const Plan& plan_;
  const Call* call_ = nullptr;
  Scheduler scheduler_;
  std::unique_ptr<Machine[]> machines_;
  std::unique_ptr<ProgressFlag[]> flags_;
  std::unique_ptr<Connection[]> connections_;
};

}  // namespace hocket::runtime
