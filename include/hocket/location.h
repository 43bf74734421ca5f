// Where in the user's source something was said.
//
// Every call of the language takes a CallSite as its last, defaulted parameter, so that a
// diagnostic can name the user's own line without macros:
//
//     Ref copy(int dst, Via via = {}, CallSite at = CallSite::current());
//
// CallSite is cheap (two words, the file name is not owned) and is what a call passes; Location
// owns its text and is what a diagnostic keeps.
#pragma once

#include <cstdint>
#include <string>

namespace hocket {

class CallSite {
 public:
  constexpr CallSite() = default;
  // `file` must outlive every object traced with this site: a literal, or an interned name.
  constexpr CallSite(const char* file, std::uint32_t line) : file_(file), line_(line) {}

  // The place of the call when used as a default argument. The compiler builtins are used rather
  // than std::source_location because clang 14 with libstdc++ 12 has no such header.
  static constexpr CallSite current(const char* file = __builtin_FILE(),
                                    std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }

  constexpr const char* file() const { return file_; }
  constexpr std::uint32_t line() const { return line_; }
  constexpr bool known() const { return line_ != 0; }

  friend constexpr bool operator==(const CallSite&, const CallSite&) = default;

 private:
  const char* file_ = "";
  std::uint32_t line_ = 0;
};

// A file and a line that are kept. line 0 means "no known place".
struct Location {
  std::string file;
  std::uint32_t line = 0;

  Location() = default;
  Location(std::string file_name, std::uint32_t line_number)
      : file(std::move(file_name)), line(line_number) {}
  Location(CallSite at) : file(at.file()), line(at.line()) {}  // NOLINT: implicit on purpose

  bool known() const { return line != 0; }
  // "ring.cpp:12", or "" when unknown.
  std::string str() const;

  friend bool operator==(const Location&, const Location&) = default;
};

}  // namespace hocket
