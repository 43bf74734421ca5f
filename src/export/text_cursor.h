// A place in one line of the text form: takes words, numbers and strings, and complains with file
// and line about what it found instead.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "hocket/diagnostic.h"

namespace hocket {

class TextCursor {
 public:
  TextCursor(std::string_view line, const std::string& file, std::uint32_t number)
      : rest_(line), file_(&file), line_(number) {}

  // Past blanks; a '#' ends the line.
  void skip_blanks();
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  // Takes `token` if it stands here (blanks before it are skipped).
  bool accept(std::string_view token);
  void expect(std::string_view token, std::string_view what);
  // Letters, digits, '_' and '-'; may be empty.
  std::string_view word();
  // Decimal, within [low, high]: HK0601 (no number), HK0602 (out of range).
  std::int64_t number(std::string_view what, std::int64_t low, std::int64_t high);
  std::int32_t int32(std::string_view what,
                     std::int32_t low = std::numeric_limits<std::int32_t>::min(),
                     std::int32_t high = std::numeric_limits<std::int32_t>::max()) {
    return static_cast<std::int32_t>(number(what, low, high));
  }
  // In double quotes, with \" \\ \n \t \r and \xHH.
  std::string quoted(std::string_view what);
  // Everything up to a blank or '#'.
  std::string_view until_blank();
  void expect_end();

  [[noreturn]] void fail(Code code, const std::string& message, std::string hint = {}) const;
  // HK0601: `found, expected what`.
  [[noreturn]] void fail_here(std::string_view what) const;

  Location where() const { return {*file_, line_}; }

 private:
  std::string_view rest_;
  const std::string* file_;
  std::uint32_t line_;
};

// The inverse of quoted().
std::string quote(std::string_view text);

}  // namespace hocket
