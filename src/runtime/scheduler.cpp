// The ready queue and the lists of waiters, all under one lock. It is taken only to park and to
// wake, and a threadblock that meets its data never takes it.
#include "runtime/scheduler.h"

#include <numeric>

namespace hocket::runtime {

Scheduler::Scheduler(std::uint32_t num_threadblocks)
    : ready_(num_threadblocks), waiters_(num_threadblocks) {}

void Scheduler::reset() {
  std::iota(ready_.begin(), ready_.end(), 0u);
  ready_first_ = 0;
  ready_count_ = static_cast<std::uint32_t>(ready_.size());
  unfinished_ = ready_count_;
  workers_ = 0;
  idle_ = 0;
  stopped_ = false;
}

void Scheduler::join() {
  const std::lock_guard lock(mutex_);
  ++workers_;
}

bool Scheduler::next(std::uint32_t& tb) {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (ready_count_ > 0) {
      tb = ready_[ready_first_];
      ready_first_ = ready_first_ + 1 == ready_.size() ? 0 : ready_first_ + 1;
      --ready_count_;
      return true;
    }
    ++idle_;
    if (idle_ == workers_) {
      stopped_ = true;
      changed_.notify_all();
      return false;
    }
    changed_.wait(lock, [this] { return stopped_ || ready_count_ > 0; });
    --idle_;
  }
  return false;
}

void Scheduler::finish() {
  const std::lock_guard lock(mutex_);
  --unfinished_;
}

void Scheduler::push(std::uint32_t tb) {
  const auto size = static_cast<std::uint32_t>(ready_.size());
  const std::uint32_t room = size - ready_first_;
  ready_[ready_count_ < room ? ready_first_ + ready_count_ : ready_count_ - room] = tb;
  ++ready_count_;
  if (idle_ > 0) changed_.notify_one();
}

void Scheduler::wake_marked(std::atomic<bool>& mark, std::uint32_t tb) {
  const std::lock_guard lock(mutex_);
  if (!mark.load(std::memory_order_relaxed)) return;
  mark.store(false, std::memory_order_relaxed);
  push(tb);
}

bool Scheduler::park(ProgressFlag& flag, std::uint32_t tb, std::int64_t value) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t waiting = flag.waiting.load(std::memory_order_relaxed);
  flag.waiting.store(waiting + 1, std::memory_order_seq_cst);
  if (flag.value.load(std::memory_order_seq_cst) >= value) {
    flag.waiting.store(waiting, std::memory_order_relaxed);
    return false;
  }
  waiters_[tb] = {flag.first, value};
  flag.first = tb;
  return true;
}

void Scheduler::wake_waiting(ProgressFlag& flag, std::int64_t value) {
  const std::lock_guard lock(mutex_);
  std::uint32_t waiting = flag.waiting.load(std::memory_order_relaxed);
  std::uint32_t* link = &flag.first;
  for (std::uint32_t left = waiting; left > 0; --left) {
    const std::uint32_t tb = *link;
    if (waiters_[tb].value <= value) {
      *link = waiters_[tb].next;
      --waiting;
      push(tb);
    } else {
      link = &waiters_[tb].next;
    }
  }
  flag.waiting.store(waiting, std::memory_order_relaxed);
}

}  // namespace hocket::runtime
