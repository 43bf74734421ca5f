// A connection within the process: a bounded ring of slots with one writer and one reader.
//
// A transfer is written into the writer's slot in place and read from the reader's slot in place.
// Positions only grow; a slot is position modulo the number of slots. What an engine of another
// kind (processes, a network, a GPU) would replace is this file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hocket::runtime {

class Connection {
 public:
  // Empties it. `memory` holds `slots` slots of `slot_bytes`; not owned.
  void reset(std::byte* memory, std::int64_t slots, std::int64_t slot_bytes) {
    memory_ = memory;
    slots_ = slots;
    slot_bytes_ = slot_bytes;
    written_.store(0, std::memory_order_relaxed);
    read_.store(0, std::memory_order_relaxed);
    reader_waits.store(false, std::memory_order_relaxed);
    writer_waits.store(false, std::memory_order_relaxed);
  }

  // Writer's side. can_write() stays true until the writer itself commits.
  bool can_write() const {
    return written_.load(std::memory_order_relaxed) - read_.load(std::memory_order_seq_cst) <
           slots_;
  }
  std::byte* write_slot() const { return slot(written_.load(std::memory_order_relaxed)); }
  void commit_write() {
    written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  }

  // Reader's side, likewise.
  bool can_read() const {
    return read_.load(std::memory_order_relaxed) < written_.load(std::memory_order_seq_cst);
  }
  const std::byte* read_slot() const { return slot(read_.load(std::memory_order_relaxed)); }
  void commit_read() {
    read_.store(read_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  }

  // Whether a threadblock is parked here (Scheduler::park, Scheduler::wake).
  std::atomic<bool> reader_waits{false};
  std::atomic<bool> writer_waits{false};

 private:
  std::byte* slot(std::int64_t position) const { return memory_ + position % slots_ * slot_bytes_; }

  std::byte* memory_ = nullptr;
  std::int64_t slots_ = 1;
  std::int64_t slot_bytes_ = 0;
  // Each side writes its own line.
  alignas(64) std::atomic<std::int64_t> written_{0};
  alignas(64) std::atomic<std::int64_t> read_{0};
};

}  // namespace hocket::runtime
