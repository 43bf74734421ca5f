#include "util/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "util/files.h"

namespace hocket::tool {

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (::isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { draw(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Progress::draw() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  bool drawn = false;
  std::unique_lock<std::mutex> lock(mutex_);
  for (int second = 1;; ++second) {
    if (wake_.wait_until(lock, start + std::chrono::seconds(second), [this] { return done_; }))
      break;
    write_err(fmt::format("\r{} ... {} s", what_, second));
    drawn = true;
  }
  if (drawn) write_err("\r\033[K");  // erase to the end of the line
}

}  // namespace hocket::tool
