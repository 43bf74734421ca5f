// Runs `hocket` in a shell in a folder of the test's own and keeps what it did.
//
//     Session s;
//     Output o = s.run("gen allreduce_ring ranks=4 -o ring.xml");
//     EXPECT_EQ(o.code, 0);
#pragma once

#include <string>

namespace hocket {

struct Output {
  int code = -1;  // exit code; 128 + the signal where one ended it
  std::string out;
  std::string err;
};

class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // `hocket arguments`, with `input` on standard input.
  Output run(const std::string& arguments, const std::string& input = "") const;
  // Any shell command; `hocket` is on the path.
  Output shell(const std::string& command, const std::string& input = "") const;
  // The same with standard error a terminal; what was said there is in `err`.
  Output shell_on_terminal(const std::string& command) const;

  std::string path(const std::string& file) const { return folder_ + "/" + file; }
  bool exists(const std::string& file) const;
  std::string read(const std::string& file) const;
  void write(const std::string& file, const std::string& text) const;
  // Names of all files there, one a line, sorted.
  std::string files() const;

 private:
  std::string folder_;
};

}  // namespace hocket
