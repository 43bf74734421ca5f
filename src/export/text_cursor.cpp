// Tokens of the text form; see the header.
#include "export/text_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hocket {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void TextCursor::skip_blanks() {
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  if (!rest_.empty() && rest_.front() == '#') rest_ = {};
}

bool TextCursor::accept(std::string_view token) {
  skip_blanks();
  if (rest_.substr(0, token.size()) != token) return false;
  // A word must end where the token does.
  if (token.back() != '-' && is_word(token.back()) && rest_.size() > token.size() &&
      is_word(rest_[token.size()])) {
    return false;
  }
  rest_.remove_prefix(token.size());
  return true;
}

void TextCursor::expect(std::string_view token, std::string_view what) {
  if (!accept(token)) fail_here(what);
}

std::string_view TextCursor::word() {
  skip_blanks();
  const auto stop = std::find_if_not(rest_.begin(), rest_.end(), is_word);
  const std::string_view found = rest_.substr(0, static_cast<std::size_t>(stop - rest_.begin()));
  rest_.remove_prefix(found.size());
  return found;
}

std::int64_t TextCursor::number(std::string_view what, std::int64_t low, std::int64_t high) {
  skip_blanks();
  std::int64_t value = 0;
  const auto [stop, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (problem == std::errc::invalid_argument) fail_here(fmt::format("{}, a number", what));
  const std::string_view digits = rest_.substr(0, static_cast<std::size_t>(stop - rest_.data()));
  if (problem == std::errc::result_out_of_range || value < low || value > high) {
    fail(Code::TextValue, fmt::format("{} {}{}, expected {} to {}", what, digits.substr(0, 40),
                                      digits.size() > 40 ? "..." : "", low, high));
  }
  rest_.remove_prefix(digits.size());
  return value;
}

std::string TextCursor::quoted(std::string_view what) {
  skip_blanks();
  if (rest_.empty() || rest_.front() != '"') fail_here(fmt::format("{} in quotes", what));
  std::string out;
  for (std::size_t i = 1; i < rest_.size(); ++i) {
    const char c = rest_[i];
    if (c == '"') {
      rest_.remove_prefix(i + 1);
      return out;
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    const char escape = ++i < rest_.size() ? rest_[i] : '\0';
    switch (escape) {
      case '"':
      case '\\':
        out += escape;
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'x': {
        const int high = i + 2 < rest_.size() ? hex_digit(rest_[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(rest_[i + 2]) : -1;
        if (low < 0) fail(Code::TextSyntax, "\\x without two hexadecimal digits in a string");
        out += static_cast<char>(high * 16 + low);
        i += 2;
        break;
      }
      default:
        fail(Code::TextSyntax, "an unknown escape in a string",
             "the escapes are \\\" \\\\ \\n \\t \\r and \\xHH");
    }
  }
  fail(Code::TextSyntax, fmt::format("{} without its closing quote", what));
}

std::string_view TextCursor::until_blank() {
  const auto stop =
      std::find_if(rest_.begin(), rest_.end(), [](char c) { return is_blank(c) || c == '#'; });
  const std::string_view found = rest_.substr(0, static_cast<std::size_t>(stop - rest_.begin()));
  rest_.remove_prefix(found.size());
  return found;
}

void TextCursor::expect_end() {
  if (!at_end()) fail_here("the end of the line");
}

void TextCursor::fail(Code code, const std::string& message, std::string hint) const {
  throw Error(code, message, where(), std::move(hint));
}

void TextCursor::fail_here(std::string_view what) const {
  TextCursor next = *this;
  next.skip_blanks();
  if (next.rest_.empty()) {
    fail(Code::TextSyntax, fmt::format("the end of the line, expected {}", what));
  }
  std::string found;
  for (const char c : next.rest_.substr(0, 40)) {
    found += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  fail(Code::TextSyntax,
       fmt::format("\"{}{}\", expected {}", found, next.rest_.size() > 40 ? "..." : "", what));
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

}  // namespace hocket
