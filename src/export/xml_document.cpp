// Parsing and complaining; see the header.
#include "export/xml_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace hocket {
namespace {

// 4 GiB: about 30 million steps.
constexpr std::size_t kMostBytes = std::size_t{1} << 32;
// Warnings of one file; what follows is more of the same.
constexpr std::size_t kMostWarnings = 20;
// Bytes of pugixml's tree: a node for a '<' at most, an attribute for two quotes at most.
constexpr std::size_t kNodeBytes = 64;
constexpr std::size_t kQuoteBytes = 20;
// A step costs four times its text. What costs more than this many times the whole text, and more
// than the allowance, is no algorithm, and is refused before the tree is built.
constexpr std::size_t kMostTreePerText = 10;
constexpr std::size_t kTreeAllowance = std::size_t{4} << 20;

std::size_t tree_bytes(std::string_view text) {
  const auto count = [&](char c) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
  };
  return kNodeBytes * count('<') + kQuoteBytes * (count('"') + count('\''));
}

// What stands in a message: at most 40 characters, none of them unprintable.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return text.size() > 40 ? out + "..." : out;
}

// The first tag that is no comment or processing instruction; npos where other text comes first or
// there is none. Looked for before anything is built, so that a file of another kind costs nothing.
std::size_t find_first_tag(std::string_view text) {
  std::size_t at = text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
  while (at < text.size()) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos || text[at] != '<') return std::string_view::npos;
    const std::string_view rest = text.substr(at, 4);
    std::size_t end = 0;
    if (rest == "<!--") {
      end = text.find("-->", at + 4);
      if (end == std::string_view::npos) return at;  // pugixml words the error
      at = end + 3;
    } else if (rest.substr(0, 2) == "<?") {
      end = text.find("?>", at + 2);
      if (end == std::string_view::npos) return at;
      at = end + 2;
    } else {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

XmlDocument::XmlDocument(std::string_view text, std::string file, std::string_view root,
                         const DiagnosticSink& warn)
    : text_(text), file_(std::move(file)), warn_(warn) {
  const auto fail_at = [&](Code code, std::size_t offset, const std::string& message) {
    const auto stop = text_.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text_.size()));
    throw Error(
        code, message,
        Location(file_, static_cast<std::uint32_t>(1 + std::count(text_.begin(), stop, '\n'))));
  };
  if (text_.size() > kMostBytes) {
    fail_at(Code::XmlTooLarge, 0,
            fmt::format("{} bytes of XML, expected at most {}", text_.size(), kMostBytes));
  }
  if (find_first_tag(text_) == std::string_view::npos) {
    const std::size_t first = text_.find_first_not_of(" \t\r\n");
    fail_at(Code::XmlSyntax, first == std::string_view::npos ? 0 : first,
            first == std::string_view::npos
                ? fmt::format("an empty file, expected <{}>", root)
                : fmt::format("\"{}\", expected <{}>",
                              shown(text_.substr(first, text_.substr(first).find('\n'))), root));
  }
  if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
    fail_at(Code::XmlSyntax, nul, "a NUL byte, which XML cannot hold");
  }
  if (tree_bytes(text_) > kTreeAllowance + kMostTreePerText * text_.size()) {
    fail_at(Code::XmlTooLarge, 0,
            fmt::format("{} bytes of XML that are almost nothing but markup, expected an algorithm",
                        text_.size()));
  }
  buffer_ = std::make_unique<char[]>(text_.size() + 1);
  std::memcpy(buffer_.get(), text_.data(), text_.size());
  const pugi::xml_parse_result result = document_.load_buffer_inplace(
      buffer_.get(), text_.size(), pugi::parse_minimal | pugi::parse_escapes, pugi::encoding_utf8);
  if (!result) {
    // A start tag that is never closed is found at the end of the file.
    fail_at(Code::XmlSyntax, static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)),
            fmt::format("not well-formed XML: {}", [&] {
              std::string words = result.description();
              if (!words.empty()) words[0] = static_cast<char>(std::tolower(words[0]));
              return words;
            }()));
  }
  for (const pugi::xml_node node : document_.children()) {
    if (node.type() != pugi::node_element) continue;
    if (root_) {
      fail(Code::XmlSyntax, node.name(),
           fmt::format("<{}> after the end of <{}>, expected the end of the file",
                       shown(node.name()), shown(root_.name())));
    }
    root_ = node;
  }
  // The parser drops text outside of the root silently.
  const std::size_t close = text_.rfind("</" + std::string(root_.name()));
  if (close != std::string_view::npos) {
    std::size_t at = text_.find('>', close) + 1;
    while ((at = text_.find_first_not_of(" \t\r\n", at)) != std::string_view::npos) {
      const std::string_view rest = text_.substr(at);
      const std::string_view end = rest.starts_with("<!--") ? "-->" : "?>";
      const std::size_t length = rest.find(end);
      if (rest.front() != '<' || length == std::string_view::npos) {
        fail_at(Code::XmlSyntax, at,
                fmt::format("\"{}\" after the end of <{}>, expected the end of the file",
                            shown(rest.substr(0, rest.find('\n'))), shown(root_.name())));
      }
      at += length + end.size();
    }
  }
  if (root != root_.name()) {
    fail(Code::XmlMissing, root_.name(),
         fmt::format("<{}>, expected <{}>", shown(root_.name()), root),
         std::string_view(root_.name()) == "msccl_algos"
             ? "this is a configuration file; read the files that its <load path=...> name"
             : "");
  }
}

Location XmlDocument::where(const char* at) const {
  const char* begin = buffer_.get();
  // An empty name or value lies outside the buffer.
  if (std::less<>()(at, begin) || std::less<>()(begin + text_.size(), at)) return {file_, 1};
  // Counted in the caller's text: pugixml has cut up its own copy.
  return {file_, static_cast<std::uint32_t>(
                     1 + std::count(text_.begin(), text_.begin() + (at - begin), '\n'))};
}

void XmlDocument::fail(Code code, const char* at, const std::string& message,
                       std::string hint) const {
  throw Error(code, context + message, where(at), std::move(hint));
}

void XmlDocument::fail_text(pugi::xml_node parent, pugi::xml_node text) const {
  const char* at = text.value();
  while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') ++at;
  fail(Code::XmlSyntax, at, fmt::format("text inside <{}>, expected elements only", parent.name()));
}

void XmlDocument::warn_unknown(const char* at, std::string_view element, std::string_view kind,
                               std::string_view name) const {
  if (!warn_ || warned_.size() >= kMostWarnings) return;
  if (!warned_.insert(fmt::format("{}/{}/{}", element, kind, name)).second) return;
  warn_({Severity::warning,
         Code::XmlUnknown,
         fmt::format("the {} {} of <{}> is not known and is dropped", kind, shown(name),
                     shown(element)),
         where(at),
         "",
         {}});
}

void fail_attribute(const XmlDocument& document, const char* at, AttributeFault fault,
                    std::string_view element, std::string_view name) {
  if (fault == AttributeFault::twice) {
    document.fail(Code::XmlDuplicate, at,
                  fmt::format("<{}> with the attribute {} twice", element, name));
  }
  document.fail(Code::XmlMissing, at, fmt::format("<{}> without the attribute {}", element, name));
}

void fail_attribute(const XmlDocument& document, const char* at, Code code, std::string_view name,
                    std::string_view found_and_expected, std::string hint) {
  document.fail(code, at, fmt::format("{} {}", name, found_and_expected), std::move(hint));
}

NumberForm parse_number(std::string_view text, std::int64_t& value) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  int base = 10;
  if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
    at += 2;
    base = 16;
  } else if (end - at > 1 && at[0] == '0') {
    return NumberForm::octal;
  }
  if (at == end || *at == '-') return NumberForm::not_a_number;
  std::uint64_t magnitude = 0;
  const auto [stop, problem] = std::from_chars(at, end, magnitude, base);
  if (stop != end || problem == std::errc::invalid_argument) return NumberForm::not_a_number;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (problem == std::errc::result_out_of_range || magnitude > kMost) return NumberForm::too_large;
  value = negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  return NumberForm::good;
}

void fail_number(const XmlDocument& document, const char* at, std::string_view name,
                 std::string_view text, NumberForm form, std::int64_t low, std::int64_t high) {
  switch (form) {
    case NumberForm::not_a_number:
      document.fail(Code::XmlValue, at,
                    fmt::format("{} \"{}\", expected a whole number", name, shown(text)));
    case NumberForm::octal:
      document.fail(
          Code::XmlValue, at,
          fmt::format("{} \"{}\", expected a number without leading zeros", name, shown(text)),
          "the runtimes read a leading zero as octal");
    case NumberForm::too_large:
    case NumberForm::good:
      break;
  }
  document.fail(Code::XmlRange, at,
                fmt::format("{} {}, expected {} to {}", name, shown(text), low, high));
}

}  // namespace hocket
