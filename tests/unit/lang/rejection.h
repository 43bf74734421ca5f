// How a test says that a call must be refused: with which code, at which line, in which words.
//
//     expect_rejected(Code::RankOutOfRange, "a chunk of rank 9, but ...", [&](Guilty& guilty) {
//       guilty.next_line();
//       p.chunk(9, Buffer::input, 0);
//     });
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "hocket/diagnostic.h"

namespace hocket {

class Guilty {
 public:
  // The line after this one is the one to blame.
  void next_line(CallSite at = CallSite::current()) { line_ = at.line() + 1; }
  std::uint32_t line() const { return line_; }

 private:
  std::uint32_t line_ = 0;
};

// Runs `mistake`; returns the diagnostic, for those who want to see its hint and notes.
template <typename Mistake>
Diagnostic expect_rejected(Code code, std::string_view message, Mistake&& mistake,
                           CallSite at = CallSite::current()) {
  const ::testing::ScopedTrace trace(at.file(), static_cast<int>(at.line()), "expected here");
  Guilty guilty;
  try {
    mistake(guilty);
  } catch (const Error& error) {
    const Diagnostic& d = error.diagnostic();
    EXPECT_EQ(code_text(d.code), code_text(code));
    EXPECT_EQ(d.message, message);
    EXPECT_EQ(d.where.file, at.file());
    EXPECT_EQ(d.where.line, guilty.line());
    EXPECT_EQ(d.severity, Severity::error);
    EXPECT_FALSE(d.hint.empty() && d.notes.empty()) << "no word of what to do: " << d.message;
    return d;
  }
  ADD_FAILURE() << "nothing was refused; expected: " << message;
  return {};
}

}  // namespace hocket
