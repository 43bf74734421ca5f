// What went wrong, as a value: a stable code, a sentence in the user's terms, the user's line, and
// what to do about it.
//
// Three kinds of failure are three types. A mistake of the user's (or an unusable file) is an
// Error. A broken invariant of ours is an InternalError: its text asks for a report. Everything
// that is merely worth saying is a Diagnostic of severity `warning`, collected by whoever the
// caller names; the library itself never prints.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/location.h"

namespace hocket {

enum class Severity { note, warning, error };

enum class Code {
#define HOCKET_CODE(name, code, about) name,
#include "hocket/codes.def"
#undef HOCKET_CODE
};

// "HK0101"
std::string_view code_text(Code code);
// "a rank that the program does not have"
std::string_view code_about(Code code);
// Every code, in the order of the table.
std::vector<Code> all_codes();

// A second place that explains the first: "first written here".
struct Note {
  std::string message;
  Location where;
};

struct Diagnostic {
  Severity severity = Severity::error;
  Code code = Code::BadCollective;
  std::string message;  // what was found, then what was expected; lower case, no full stop
  Location where;       // the user's line, when there is one
  std::string hint;     // what to do; may be empty
  std::vector<Note> notes;
};

// In the form that editors parse:
//
//     ring.cpp:12: error: copy to rank 9, but the program has 8 ranks (0 to 7) [HK0101]
//     ring.cpp:10: note: the chunk comes from here
//       hint: ...
//
// Without a trailing newline.
std::string render(const Diagnostic& diagnostic);

// Takes what is worth saying but stops nothing. An empty sink drops it.
using DiagnosticSink = std::function<void(const Diagnostic&)>;

// A mistake of the user's. what() is render(diagnostic()).
class Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic diagnostic);
  Error(Code code, std::string message, Location where = {}, std::string hint = {},
        std::vector<Note> notes = {});

  const Diagnostic& diagnostic() const { return diagnostic_; }
  Code code() const { return diagnostic_.code; }

 private:
  Diagnostic diagnostic_;
};

// A mistake of ours.
class InternalError : public std::logic_error {
 public:
  InternalError(std::string_view condition, std::string_view message, CallSite at);
};

// Checks an invariant of ours in every build. `message` says what was believed.
#define HOCKET_CHECK(condition, message)                                                   \
  do {                                                                                     \
    if (!(condition)) [[unlikely]] {                                                       \
      throw ::hocket::InternalError(#condition, (message), ::hocket::CallSite::current()); \
    }                                                                                      \
  } while (false)

}  // namespace hocket
