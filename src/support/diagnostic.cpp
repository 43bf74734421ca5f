// The table of codes and the one way a diagnostic is shown.
#include "hocket/diagnostic.h"

#include <fmt/format.h>

#include <array>

namespace hocket {
namespace {

struct CodeRow {
  std::string_view text;
  std::string_view about;
};

constexpr std::array kCodes = {
#define HOCKET_CODE(name, code, about) CodeRow{code, about},
#include "hocket/codes.def"
#undef HOCKET_CODE
};

std::string_view severity_text(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

void append_place(std::string& out, const Location& where) {
  if (where.known()) out += fmt::format("{}:{}: ", where.file, where.line);
}

}  // namespace

std::string_view code_text(Code code) { return kCodes[static_cast<std::size_t>(code)].text; }

std::string_view code_about(Code code) { return kCodes[static_cast<std::size_t>(code)].about; }

std::vector<Code> all_codes() {
  std::vector<Code> codes;
  for (std::size_t i = 0; i < kCodes.size(); ++i) codes.push_back(static_cast<Code>(i));
  return codes;
}

std::string Location::str() const { return known() ? fmt::format("{}:{}", file, line) : ""; }

std::string render(const Diagnostic& diagnostic) {
  std::string out;
  append_place(out, diagnostic.where);
  out += fmt::format("{}: {} [{}]", severity_text(diagnostic.severity), diagnostic.message,
                     code_text(diagnostic.code));
  for (const Note& note : diagnostic.notes) {
    out += '\n';
    append_place(out, note.where);
    out += fmt::format("note: {}", note.message);
  }
  if (!diagnostic.hint.empty()) out += fmt::format("\n  hint: {}", diagnostic.hint);
  return out;
}

Error::Error(Diagnostic diagnostic)
    : std::runtime_error(render(diagnostic)), diagnostic_(std::move(diagnostic)) {}

Error::Error(Code code, std::string message, Location where, std::string hint,
             std::vector<Note> notes)
    : Error(Diagnostic{Severity::error, code, std::move(message), std::move(where), std::move(hint),
                       std::move(notes)}) {}

InternalError::InternalError(std::string_view condition, std::string_view message, CallSite at)
    : std::logic_error(
          fmt::format("internal error at {}:{}: {} ({} does not hold); please report it", at.file(),
                      at.line(), message, condition)) {}

}  // namespace hocket
