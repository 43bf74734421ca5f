// The public executor: binds a call's buffers and sizes to the plan and lets the engine run it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

#include "hocket/runtime.h"
#include "runtime/deadlock_report.h"
#include "runtime/engine.h"
#include "runtime/layout.h"
#include "runtime/plan.h"

namespace hocket {
namespace {

using runtime::Call;
using runtime::checked_product;
using runtime::checked_sum;
using runtime::Layout;
using runtime::Plan;
using runtime::PlanConnection;
using runtime::RankMemory;

// The runtimes' bound on the chunks of one transfer.
constexpr std::int64_t kMaxChunksPerTransfer = 71;
// A transfer of this size stays in the second-level cache between its writer and its reader.
constexpr std::int64_t kCacheTileBytes = 64 << 10;
// What all slots of all connections may need together before tiles get smaller.
constexpr std::int64_t kConnectionBudget = 512 << 20;
constexpr std::int64_t kLineBytes = 64;
// What unwritten scratch holds: a NaN in the floating-point types, -1 or 255 in the others. Reading
// it spoils a result, which is what makes such a mistake visible.
constexpr int kScratchPoison = 0xff;

// Memory that is kept from call to call and grows when needed. Contents are not kept.
class Arena {
 public:
  // At least `bytes`, aligned to a cache line; filled with `fill` when it is new.
  std::byte* reserve(std::int64_t bytes, int fill) {
    if (bytes > size_) {
      memory_.reset();
      memory_.reset(new std::byte[static_cast<std::size_t>(bytes + kLineBytes)]);
      size_ = bytes;
      if (fill != 0) std::memset(memory_.get(), fill, static_cast<std::size_t>(bytes + kLineBytes));
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    return memory_.get() + (kLineBytes - address % kLineBytes) % kLineBytes;
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::int64_t size_ = -1;
};

// How a rank's two buffers share memory in place.
enum class Sharing : std::uint8_t { none, same, input_inside, output_inside };

Sharing sharing_in_place(const Collective& collective, int rank) {
  switch (collective.kind()) {
    case CollectiveKind::allgather:
      return Sharing::input_inside;
    case CollectiveKind::reduce_scatter:
      return Sharing::output_inside;
    case CollectiveKind::gather:
      return rank == collective.root() ? Sharing::input_inside : Sharing::none;
    case CollectiveKind::scatter:
      return rank == collective.root() ? Sharing::output_inside : Sharing::none;
    default:
      return Sharing::same;
  }
}

}  // namespace

class LocalExecutor::Impl {
 public:
  explicit Impl(Algorithm algorithm)
      : plan_(runtime::make_plan(std::move(algorithm))), engine_(plan_) {}

  const Algorithm& algorithm() const { return plan_.algorithm; }

  void run(std::span<const RankBuffers> buffers, const RunOptions& options) {
    check_options(buffers, options);
    Call call{Layout(collective(), options.count)};
    call.element_size = static_cast<std::int64_t>(data_type_size(options.type));
    call.reduce = runtime::reduce_kernel(options.type, options.op);
    bind_buffers(call, buffers, options);
    if (options.count == 0) return;
    cut_into_tiles(call, options);
    bind_private_memory(call, options);
    if (!engine_.run(call, num_threads(options))) {
      throw runtime::deadlock_error(plan_, engine_, call);
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& message, std::string hint = {}) {
    throw Error(Code::BadBuffers, message, {}, std::move(hint));
  }

  const Collective& collective() const { return plan_.algorithm.collective; }
  int num_ranks() const { return plan_.algorithm.num_ranks(); }

  void check_options(std::span<const RankBuffers> buffers, const RunOptions& options) const {
    if (buffers.size() != static_cast<std::size_t>(num_ranks())) {
      refuse(fmt::format("buffers of {} ranks, expected {}", buffers.size(), num_ranks()));
    }
    const bool allowed = options.in_place ? plan_.algorithm.in_place : plan_.algorithm.out_of_place;
    if (!allowed) {
      refuse(fmt::format("an {} call of algorithm {}, which runs {} only",
                         options.in_place ? "in-place" : "out-of-place", plan_.algorithm.name,
                         options.in_place ? "out of place" : "in place"));
    }
    if (options.threads < 0) {
      refuse(fmt::format("{} threads, expected 0 or more", options.threads));
    }
    if (options.slots && *options.slots < 1) {
      refuse(fmt::format("{} slots, expected 1 or more", *options.slots));
    }
    if (options.chunks_per_transfer && *options.chunks_per_transfer < 1) {
      refuse(
          fmt::format("{} chunks per transfer, expected 1 or more", *options.chunks_per_transfer));
    }
    if (options.tile_bytes < 0) {
      refuse(fmt::format("tiles of {} bytes, expected 0 or more", options.tile_bytes));
    }
  }

  // Ranks run at once: what one writes to its output must be nobody else's. Inputs may be
  // shared, unless they are outputs too.
  void refuse_shared_outputs(const Call& call, bool in_place) const {
    struct Part {
      const std::byte* begin;
      const std::byte* end;
      int rank;
      bool output;
    };
    std::vector<Part> parts;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const RankMemory& memory = call.ranks[r];
      const std::int32_t chunks[2] = {collective().input_chunks(rank),
                                      collective().output_chunks(rank)};
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const std::byte* begin = memory.base[side];
        const std::int64_t bytes = call.layout.checked_elements(chunks[side]) * call.element_size;
        if (begin == nullptr || bytes == 0 || !plan_.touches[r][side]) continue;
        parts.push_back({begin, begin + bytes, rank, side == 1 || in_place});
      }
    }
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return std::less<>()(a.begin, b.begin); });
    // The furthest end of what came before, and of the outputs among it.
    const Part* furthest[2] = {nullptr, nullptr};
    for (const Part& part : parts) {
      for (const bool outputs_only : {false, true}) {
        const Part* before = furthest[outputs_only ? 1 : 0];
        if (before == nullptr || before->rank == part.rank) continue;
        if (!std::less<>()(part.begin, before->end)) continue;
        if (!part.output && !before->output) continue;
        refuse(fmt::format("the {} of rank {} and the {} of rank {} overlap",
                           before->output ? "output" : "input", before->rank,
                           part.output ? "output" : "input", part.rank),
               "give every rank an output of its own");
      }
      for (const bool outputs_only : {false, true}) {
        const Part*& before = furthest[outputs_only ? 1 : 0];
        if (outputs_only && !part.output) continue;
        if (before == nullptr || std::less<>()(before->end, part.end)) before = &part;
      }
    }
  }

  // Where the caller's chunks lie. Also where both names of an in-place call lead to one memory.
  void bind_buffers(Call& call, std::span<const RankBuffers> buffers,
                    const RunOptions& options) const {
    call.ranks.resize(static_cast<std::size_t>(num_ranks()));
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      RankMemory& memory = call.ranks[r];
      const std::int64_t elements[2] = {
          call.layout.checked_elements(collective().input_chunks(rank)),
          call.layout.checked_elements(collective().output_chunks(rank))};
      const std::int64_t bytes[2] = {checked_product(elements[0], call.element_size),
                                     checked_product(elements[1], call.element_size)};
      memory.base[0] = buffers[r].input;
      memory.base[1] = buffers[r].output;
      if (options.in_place) {
        alias(memory, rank, options.count * call.element_size);
      } else if (memory.base[0] != nullptr && memory.base[1] != nullptr && bytes[0] > 0 &&
                 bytes[1] > 0 && std::less<>()(memory.base[0], memory.base[1] + bytes[1]) &&
                 std::less<>()(memory.base[1], memory.base[0] + bytes[0])) {
        refuse(
            fmt::format("input and output of rank {} overlap, but the call is not in place", rank),
            "set RunOptions::in_place, or use separate buffers");
      }
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        if (memory.base[side] == nullptr && elements[side] > 0 && plan_.touches[r][side]) {
          refuse(fmt::format("no {} of rank {}, expected a buffer of {} elements",
                             side == 0 ? "input" : "output", rank, elements[side]));
        }
      }
    }
    refuse_shared_outputs(call, options.in_place);
  }

  void alias(RankMemory& memory, int rank, std::int64_t part_bytes) const {
    const Sharing sharing = sharing_in_place(collective(), rank);
    if (sharing == Sharing::none) return;
    std::byte*& input = memory.base[0];
    std::byte*& output = memory.base[1];
    const bool same = sharing == Sharing::same;
    // `inner` is `offset` bytes inside `outer`.
    const bool input_inside = sharing == Sharing::input_inside;
    std::byte*& outer = input_inside ? output : input;
    std::byte*& inner = input_inside ? input : output;
    if (same && outer == nullptr) outer = inner;
    if (outer == nullptr && inner == nullptr) return;
    if (outer == nullptr) {
      refuse(
          fmt::format("no {} of rank {}, expected the buffer that holds the {} of an in-place {}",
                      input_inside ? "output" : "input", rank, input_inside ? "input" : "output",
                      collective().name()));
    }
    const std::int64_t offset = same ? 0 : rank * part_bytes;
    if (inner == nullptr) inner = outer + offset;
    if (inner == outer + offset) return;
    refuse(
        fmt::format("the {} of rank {} is not {} bytes after its {}, as in place it must be for {}",
                    input_inside ? "input" : "output", rank, offset,
                    input_inside ? "output" : "input", collective().name()));
  }

  // How much a transfer carries. The number of pieces of a step follows the runtimes' rule,
  // whatever the tile: pieces decide what deadlocks, tiles do not.
  void cut_into_tiles(Call& call, const RunOptions& options) const {
    const Protocol protocol = plan_.algorithm.protocol;
    const std::int64_t transfer = protocol_transfer_bytes(protocol);
    const std::int64_t factor = collective().chunk_factor();
    const std::int64_t part_bytes = options.count * call.element_size;
    const std::int64_t chunk_bytes = part_bytes / factor + (part_bytes % factor > 0 ? 1 : 0);
    call.slots = options.slots.value_or(protocol_slots(protocol));
    call.chunks_per_transfer = static_cast<std::int32_t>(
        options.chunks_per_transfer
            ? *options.chunks_per_transfer
            : std::clamp<std::int64_t>(transfer / chunk_bytes, 1, kMaxChunksPerTransfer));

    std::int64_t chunk_slots = 0;  // chunks that all slots can hold together
    for (const PlanConnection& c : plan_.connections) {
      chunk_slots += std::min(c.max_count, call.chunks_per_transfer);
    }
    chunk_slots = checked_product(std::max<std::int64_t>(chunk_slots, 1), call.slots);
    std::int64_t tile_bytes = options.tile_bytes;
    const std::int64_t most = std::min(plan_.max_count, call.chunks_per_transfer);
    if (tile_bytes == 0) {
      tile_bytes = std::min({transfer, kCacheTileBytes, kConnectionBudget / chunk_slots * most});
    }
    call.tile = std::clamp<std::int64_t>(tile_bytes / call.element_size / most, 1,
                                         call.layout.chunk_elements());
    call.iterations = (call.layout.chunk_elements() + call.tile - 1) / call.tile;
  }

  // Scratch, slots, and the elements that shorter chunks lack.
  void bind_private_memory(Call& call, const RunOptions& options) {
    std::int64_t scratch = 0;
    std::int64_t missing = 0;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      scratch = checked_sum(scratch, scratch_bytes(call, rank));
      missing += missing_elements(rank) * call.element_size;
    }
    std::byte* next_scratch = scratch_.reserve(scratch, kScratchPoison);
    std::byte* next_missing = nullptr;
    if (call.layout.ragged()) {
      next_missing = missing_.reserve(missing, 0);
      std::memset(next_missing, 0, static_cast<std::size_t>(missing));
    }
    for (int rank = 0; rank < num_ranks(); ++rank) {
      RankMemory& memory = call.ranks[static_cast<std::size_t>(rank)];
      memory.base[2] = next_scratch;
      next_scratch += scratch_bytes(call, rank);
      if (next_missing == nullptr) continue;
      bind_missing(memory, rank, next_missing, call.element_size, options.in_place);
      next_missing += missing_elements(rank) * call.element_size;
    }

    std::int64_t slots = 0;
    for (const PlanConnection& c : plan_.connections) {
      slots = checked_sum(slots, checked_product(call.slot_bytes(c), call.slots));
    }
    std::byte* next_slot = slots_.reserve(slots, 0);
    for (const PlanConnection& c : plan_.connections) {
      call.connection_memory.push_back(next_slot);
      next_slot += call.slot_bytes(c) * call.slots;
    }
  }

  std::int64_t scratch_bytes(const Call& call, int rank) const {
    const std::int64_t chunks =
        plan_.algorithm.ranks[static_cast<std::size_t>(rank)].scratch_chunks;
    return checked_product(checked_product(chunks, call.layout.chunk_elements()),
                           call.element_size);
  }
  // One a chunk of either buffer, whether it lacks an element or not: indexing stays trivial.
  std::int64_t missing_elements(int rank) const {
    return std::int64_t{collective().input_chunks(rank)} + collective().output_chunks(rank);
  }
  // Chunks that share memory share the element that they lack.
  void bind_missing(RankMemory& memory, int rank, std::byte* start, std::int64_t element_size,
                    bool in_place) const {
    const std::int64_t part = std::int64_t{rank} * collective().chunk_factor() * element_size;
    const Sharing sharing = in_place ? sharing_in_place(collective(), rank) : Sharing::none;
    memory.missing[0] = start;
    memory.missing[1] = start;
    switch (sharing) {
      case Sharing::none:
        memory.missing[1] += collective().input_chunks(rank) * element_size;
        break;
      case Sharing::same:
        break;
      case Sharing::input_inside:
        memory.missing[0] += part;
        break;
      case Sharing::output_inside:
        memory.missing[1] += part;
        break;
    }
  }

  int num_threads(const RunOptions& options) const {
    const auto cores = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
    const std::size_t most = std::max<std::size_t>(plan_.threadblocks.size(), 1);
    const int wanted = options.threads == 0 ? cores : options.threads;
    return static_cast<int>(std::min(static_cast<std::size_t>(wanted), most));
  }

  Plan plan_;
  runtime::Engine engine_;  // refers to plan_
  Arena scratch_;
  Arena missing_;
  Arena slots_;
};

LocalExecutor::LocalExecutor(Algorithm algorithm)
    : impl_(std::make_unique<Impl>(std::move(algorithm))) {}
LocalExecutor::~LocalExecutor() = default;
LocalExecutor::LocalExecutor(LocalExecutor&&) noexcept = default;
LocalExecutor& LocalExecutor::operator=(LocalExecutor&&) noexcept = default;

void LocalExecutor::run(std::span<const RankBuffers> buffers, const RunOptions& options) {
  impl_->run(buffers, options);
}

const Algorithm& LocalExecutor::algorithm() const { return impl_->algorithm(); }

}  // namespace hocket
