// POSIX calls rather than streams: every failure is seen, with its reason.
#include "util/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hocket/diagnostic.h"

namespace hocket::tool {
namespace {

constexpr std::size_t kLargestFile = std::size_t{2} << 30;

std::string quoted(const std::string& path) {
  return path == "-" ? "standard input" : fmt::format("\"{}\"", path);
}

[[noreturn]] void fail_to_read(const std::string& path, const std::string& why) {
  throw Error(Code::CannotRead, fmt::format("cannot read {}: {}", quoted(path), why));
}

[[noreturn]] void fail_to_write(const std::string& what, int error) {
  throw Error(Code::CannotWrite, fmt::format("cannot write {}: {}", what, std::strerror(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  int get() const { return fd_; }
  // 0, or why closing failed: some file systems report a full disk only here.
  int close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

// 0, or why it failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// The mode that a new file gets: the old file's, or what the process's mask leaves.
mode_t mode_for(const struct stat* old) {
  if (old != nullptr) return old->st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

std::string read_file(const std::string& path) {
  Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_to_read(path, std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path, std::strerror(errno));
    if (got == 0) return text;
    // Before much of it is in memory: a device, or another kind of file.
    if (text.empty() && std::memchr(buffer, 0, static_cast<std::size_t>(got)) != nullptr) {
      fail_to_read(path, "it is binary, not text");
    }
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kLargestFile) fail_to_read(path, "more than 2 GiB");
  }
}

void write_file(const std::string& path, std::string_view text) {
  if (path == "-") return write_out(text);
  const std::string name = quoted(path);

  struct stat old = {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0) fail_to_write(name, errno);
    if (const int error = write_all(device.get(), text)) fail_to_write(name, error);
    if (const int error = device.close()) fail_to_write(name, error);
    return;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) fail_to_write(name, errno);

  // Through a link, so that it stays a link; beside the file, so that renaming is atomic.
  std::error_code ignored;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, ignored);
  if (ignored || target.empty()) target = path;
  std::string temporary =
      (target.parent_path() / fmt::format(".{}.XXXXXX", target.filename().string())).string();
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) fail_to_write(name, errno);
  int error = write_all(file.get(), text);
  if (error == 0 && ::fchmod(file.get(), mode_for(exists ? &old : nullptr)) != 0) error = errno;
  if (error == 0 && ::fsync(file.get()) != 0 && errno != EINVAL) error = errno;
  if (const int closing = file.close(); error == 0) error = closing;
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail_to_write(name, error);
  }
}

void write_out(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) {
    // The reader has had enough, and this process was started with SIGPIPE ignored: end as if it
    // were not.
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  if (error != 0) fail_to_write("standard output", error);
}

void write_err(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

}  // namespace hocket::tool
