// The tile loop: for every tile of a chunk, all steps of a threadblock in order, each cut into
// pieces of as many chunks as a transfer may carry. A piece runs when its dependence, its incoming
// data and its outgoing slot are all there; nothing is taken before everything is.
#include "runtime/engine.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>

#include "hocket/diagnostic.h"

namespace hocket::runtime {

std::int64_t Call::slot_bytes(const PlanConnection& connection) const {
  const std::int64_t chunks = std::min(connection.max_count, chunks_per_transfer);
  return (chunks * tile * element_size + 63) / 64 * 64;
}

Engine::Engine(const Plan& plan)
    : plan_(plan),
      scheduler_(static_cast<std::uint32_t>(plan.threadblocks.size())),
      machines_(std::make_unique<Machine[]>(plan.threadblocks.size())),
      flags_(std::make_unique<ProgressFlag[]>(plan.threadblocks.size())),
      connections_(std::make_unique<Connection[]>(plan.connections.size())) {}

bool Engine::run(const Call& call, int threads) {
  call_ = &call;
  for (std::size_t i = 0; i < plan_.threadblocks.size(); ++i) {
    machines_[i].place = {};
    flags_[i].value.store(0, std::memory_order_relaxed);
    flags_[i].waiting.store(0, std::memory_order_relaxed);
  }
  for (std::size_t i = 0; i < plan_.connections.size(); ++i) {
    connections_[i].reset(call.connection_memory[i], call.slots,
                          call.slot_bytes(plan_.connections[i]));
  }
  scheduler_.reset();
  std::vector<std::thread> helpers;
  helpers.reserve(static_cast<std::size_t>(std::max(threads - 1, 0)));
  for (int i = 1; i < threads; ++i) {
    try {
      helpers.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      break;  // fewer workers do the same work
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  call_ = nullptr;
  return scheduler_.unfinished() == 0;
}

void Engine::work() {
  scheduler_.join();
  std::uint32_t tb = 0;
  while (scheduler_.next(tb)) advance(tb);
}

// Runs `tb` until it has finished or is parked. Once parked it may already run on another worker,
// so nothing of it may be touched after that.
void Engine::advance(std::uint32_t tb) {
  const PlanThreadBlock& block = plan_.threadblocks[tb];
  Place& place = machines_[tb].place;
  Connection* in = block.in == kNone ? nullptr : &connections_[static_cast<std::size_t>(block.in)];
  Connection* out =
      block.out == kNone ? nullptr : &connections_[static_cast<std::size_t>(block.out)];
  const auto peer = [this](std::int32_t connection) -> const PlanConnection& {
    return plan_.connections[static_cast<std::size_t>(connection)];
  };
  bool more = block.num_steps > 0 && call_->iterations > 0;
  while (more) {
    const Step& step = plan_.step(block, place.step);
    if (place.done == 0 && step.depend_tb >= 0 && !wait_for_step(tb, step, place)) return;
    const OpInfo& info = op_info(step.op);
    if (info.receives && !in->can_read()) {
      place.waits_for = WaitReason::data;
      if (scheduler_.park(in->reader_waits, [in] { return in->can_read(); })) return;
    }
    if (info.sends && !out->can_write()) {
      place.waits_for = WaitReason::slot;
      if (scheduler_.park(out->writer_waits, [out] { return out->can_write(); })) return;
    }
    place.waits_for = WaitReason::nothing;
    const std::int32_t chunks = std::min(call_->chunks_per_transfer, step.count - place.done);
    if (step.op != OpCode::nop) {
      execute(block, step, place, chunks, info.receives ? in->read_slot() : nullptr,
              info.sends ? out->write_slot() : nullptr);
      place.done += chunks;
    }
    if (info.receives) {
      in->commit_read();
      scheduler_.wake(in->writer_waits, peer(block.in).sender_tb);
    }
    if (info.sends) {
      out->commit_write();
      scheduler_.wake(out->reader_waits, peer(block.out).receiver_tb);
    }
    if (step.op == OpCode::nop || place.done == step.count) more = complete_step(tb, step, place);
  }
  place.finished = true;
  scheduler_.finish();
}

// A flag's value numbers the completed steps over all iterations, so a wait in iteration k is also
// satisfied by anything later.
bool Engine::wait_for_step(std::uint32_t tb, const Step& step, Place& place) {
  const std::uint32_t other =
      plan_.first_threadblock[static_cast<std::size_t>(plan_.threadblocks[tb].rank)] +
      static_cast<std::uint32_t>(step.depend_tb);
  const std::int64_t value =
      place.iteration * plan_.threadblocks[other].num_steps + step.depend_step + 1;
  ProgressFlag& flag = flags_[other];
  if (flag.value.load(std::memory_order_acquire) >= value) return true;
  place.waits_for = WaitReason::step;
  return !scheduler_.park(flag, tb, value);
}

// Publishes the step and moves to the next one. False: it was the last.
bool Engine::complete_step(std::uint32_t tb, const Step& step, Place& place) {
  const std::uint32_t num_steps = plan_.threadblocks[tb].num_steps;
  const std::int64_t value = place.iteration * num_steps + place.step + 1;
  place.done = 0;
  if (++place.step == num_steps) {
    place.step = 0;
    ++place.iteration;
  }
  // A nop carries a wait and is not a step that others can see.
  if (step.has_dependent && step.op != OpCode::nop) scheduler_.publish(flags_[tb], value);
  return place.iteration < call_->iterations;
}

Engine::Tile Engine::tile_of(std::int64_t iteration) const {
  const std::int64_t start = iteration * call_->tile;
  const std::int64_t n = std::min(call_->tile, call_->layout.chunk_elements() - start);
  const bool split = call_->layout.ragged() && iteration + 1 == call_->iterations;
  return {start, n, split ? n - 1 : n};
}

Engine::Target Engine::local(const RankMemory& memory, BufferKind buffer, std::int32_t chunk,
                             const Tile& tile) const {
  const Layout& layout = call_->layout;
  const std::int64_t size = call_->element_size;
  const auto kind = static_cast<std::size_t>(buffer);
  const bool scratch = buffer == BufferKind::scratch;
  const std::int64_t start =
      (scratch ? chunk * layout.chunk_elements() : layout.offset(chunk)) + tile.start;
  std::byte* body = memory.base[kind] + start * size;
  std::byte* last = body + tile.body * size;
  if (tile.body != tile.n && !scratch && layout.length(chunk) != layout.chunk_elements()) {
    last = memory.missing[kind] + chunk * size;
  }
  return {body, last};
}

void Engine::copy(const Target& to, const Source& from, const Tile& tile) const {
  const std::int64_t size = call_->element_size;
  if (tile.body > 0 && to.body != from.body) {
    std::memcpy(to.body, from.body, static_cast<std::size_t>(tile.body * size));
  }
  if (tile.body != tile.n && to.last != from.last) {
    std::memcpy(to.last, from.last, static_cast<std::size_t>(size));
  }
}

void Engine::reduce(const Target& to, const Source& a, const Source& b, const Tile& tile) const {
  call_->reduce(to.body, a.body, b.body, tile.body);
  if (tile.body != tile.n) call_->reduce(to.last, a.last, b.last, 1);
}

void Engine::execute(const PlanThreadBlock& tb, const Step& step, const Place& place,
                     std::int32_t chunks, const std::byte* in, std::byte* out) const {
  const RankMemory& memory = call_->ranks[static_cast<std::size_t>(tb.rank)];
  const Tile tile = tile_of(place.iteration);
  const std::int64_t body_bytes = tile.body * call_->element_size;
  const std::int64_t chunk_bytes = tile.n * call_->element_size;
  const OpInfo& info = op_info(step.op);
  // Chunk by chunk: the chunks of a slot are as long as the tile, those of a buffer may not be.
  for (std::int32_t c = 0; c < chunks; ++c) {
    const std::byte* received = info.receives ? in + c * chunk_bytes : nullptr;
    const Source incoming{received, info.receives ? received + body_bytes : nullptr};
    std::byte* sent = info.sends ? out + c * chunk_bytes : nullptr;
    const Target outgoing{sent, info.sends ? sent + body_bytes : nullptr};
    Target dst{nullptr, nullptr};
    Source src{nullptr, nullptr};
    if (info.writes_dst) {
      dst = local(memory, step.dst_buffer, step.dst_offset + place.done + c, tile);
    }
    if (info.reads_src) {
      const Target from = local(memory, step.src_buffer, step.src_offset + place.done + c, tile);
      src = {from.body, from.last};
    }
    const Source dst_value{dst.body, dst.last};
    switch (step.op) {
      case OpCode::send:
        copy(outgoing, src, tile);
        break;
      case OpCode::recv:
        copy(dst, incoming, tile);
        break;
      case OpCode::recv_copy_send:
        copy(dst, incoming, tile);
        copy(outgoing, incoming, tile);
        break;
      case OpCode::recv_reduce_send:
        reduce(outgoing, incoming, src, tile);
        break;
      case OpCode::recv_reduce_copy:
        reduce(dst, incoming, src, tile);
        break;
      case OpCode::recv_reduce_copy_send:
        reduce(dst, incoming, src, tile);
        copy(outgoing, dst_value, tile);
        break;
      case OpCode::copy:
        copy(dst, src, tile);
        break;
      case OpCode::reduce:
        reduce(dst, dst_value, src, tile);
        break;
      case OpCode::nop:
        break;
    }
  }
}

}  // namespace hocket::runtime
