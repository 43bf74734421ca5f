// Which threadblock runs next, on any number of worker threads, and the moment when none can.
//
// A threadblock is in exactly one of four places: ready (queued), running (held by the worker that
// popped it), parked (waiting for an event) or finished. Parking cannot lose a wakeup: the waiter
// marks the place where it waits and then looks again whether it must; the other side makes its
// progress visible and then looks whether somebody is marked. All four accesses are sequentially
// consistent, so at least one of the two sees the other. Marks are set and cleared under the lock.
//
// When the last worker finds nothing ready, nobody is running, so nothing can become ready any
// more: either all threadblocks have finished or the rest is deadlocked. Workers then stop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace hocket::runtime {

// How far a threadblock has come, as the other threadblocks of its rank see it: monotone.
struct ProgressFlag {
  alignas(64) std::atomic<std::int64_t> value{0};
  std::atomic<std::uint32_t> waiting{0};  // threadblocks parked here
  std::uint32_t first = 0;                // of them, under the scheduler's lock
};

class Scheduler {
 public:
  explicit Scheduler(std::uint32_t num_threadblocks);

  // All threadblocks ready, no workers.
  void reset();

  // A worker's life: join once, then next() until it says no.
  void join();
  bool next(std::uint32_t& tb);
  void finish();  // the threadblock that next() gave is done

  // Parks `tb` at `mark` unless `can_go_on()`. False: it was not parked and still runs.
  template <typename CanGoOn>
  bool park(std::atomic<bool>& mark, CanGoOn can_go_on) {
    const std::lock_guard lock(mutex_);
    mark.store(true, std::memory_order_seq_cst);
    if (!can_go_on()) return true;
    mark.store(false, std::memory_order_relaxed);
    return false;
  }
  // Called after progress that `tb` might be parked for at `mark`.
  void wake(std::atomic<bool>& mark, std::uint32_t tb) {
    if (mark.load(std::memory_order_seq_cst)) wake_marked(mark, tb);
  }

  // Parks `tb` until `flag` is at least `value`. False: it is, and `tb` still runs.
  bool park(ProgressFlag& flag, std::uint32_t tb, std::int64_t value);
  // Sets the flag and wakes those that it satisfies.
  void publish(ProgressFlag& flag, std::int64_t value) {
    flag.value.store(value, std::memory_order_seq_cst);
    if (flag.waiting.load(std::memory_order_seq_cst) > 0) wake_waiting(flag, value);
  }

  // After the workers have stopped: how many threadblocks never finished.
  std::uint32_t unfinished() const { return unfinished_; }

 private:
  void wake_marked(std::atomic<bool>& mark, std::uint32_t tb);
  void wake_waiting(ProgressFlag& flag, std::int64_t value);
  void push(std::uint32_t tb);  // under the lock

  // A threadblock parked at a flag: a linked list, so that parking allocates nothing.
  struct Waiter {
    std::uint32_t next = 0;
    std::int64_t value = 0;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> ready_;  // a ring: no threadblock is queued twice
  std::uint32_t ready_first_ = 0;
  std::uint32_t ready_count_ = 0;
  std::vector<Waiter> waiters_;
  std::uint32_t unfinished_ = 0;
  int workers_ = 0;
  int idle_ = 0;
  bool stopped_ = false;
};

}  // namespace hocket::runtime
