// Says what is being done, on anything that takes longer than a second, when standard error is a
// terminal: one line that is redrawn and wiped.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace hocket::tool {

class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

 private:
  void draw();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;  // none where there is no terminal
};

}  // namespace hocket::tool
