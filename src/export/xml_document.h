// A parsed XML text whose every complaint names file and line.
//
// pugixml does the parsing: it is iterative, expands no DTD entities, opens nothing, and frees its
// tree page by page, so neither depth nor entity bombs nor truncation can hurt it. Line numbers
// come from pointers into the parsed buffer, so they cost nothing until somebody asks.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>

#include "hocket/diagnostic.h"

namespace hocket {

class XmlDocument {
 public:
  // Throws HK0501 (not well-formed, with the line), HK0502 (the root is not <`root`>), HK0508.
  XmlDocument(std::string_view text, std::string file, std::string_view root,
              const DiagnosticSink& warn);

  pugi::xml_node root() const { return root_; }
  std::size_t size() const { return text_.size(); }

  // The line of something that pugixml returned from this document.
  Location where(const char* at) const;
  Location where(pugi::xml_node node) const { return where(node.name()); }
  Location where(pugi::xml_attribute attribute) const { return where(attribute.name()); }

  // Everything below throws Error with `context` ("rank 0, threadblock 2: ") before the message.
  [[noreturn]] void fail(Code code, const char* at, const std::string& message,
                         std::string hint = {}) const;

  // Once a document for each (element, name): HK0507.
  void warn_unknown(const char* at, std::string_view element, std::string_view kind,
                    std::string_view name) const;

  // Calls f(child) for every child element; HK0501 for text between them.
  template <typename F>
  void for_children(pugi::xml_node parent, F&& f) const {
    for (const pugi::xml_node child : parent.children()) {
      if (child.type() != pugi::node_element) fail_text(parent, child);
      f(child);
    }
  }

  std::string context;

 private:
  [[noreturn]] void fail_text(pugi::xml_node parent, pugi::xml_node text) const;

  std::string_view text_;  // the caller's, as it was
  std::string file_;
  const DiagnosticSink& warn_;
  std::unique_ptr<char[]> buffer_;  // pugixml's copy, cut up in place
  pugi::xml_document document_;
  pugi::xml_node root_;
  mutable std::set<std::string> warned_;
};

enum class AttributeFault { missing, twice };
[[noreturn]] void fail_attribute(const XmlDocument& document, const char* at, AttributeFault fault,
                                 std::string_view element, std::string_view name);
[[noreturn]] void fail_attribute(const XmlDocument& document, const char* at, Code code,
                                 std::string_view name, std::string_view found_and_expected,
                                 std::string hint);

// The attributes of an element by the position of their names in a table. Given twice: HK0505;
// not in the table: a warning.
template <std::size_t N>
class Attributes {
 public:
  using Names = std::array<const char*, N>;

  Attributes(const XmlDocument& document, pugi::xml_node node, const Names& names)
      : document_(document), node_(node), names_(names) {
    // Files give attributes in the table's order, so the next name is tried first.
    std::size_t next = 0;
    for (pugi::xml_attribute a = node.first_attribute(); a; a = a.next_attribute()) {
      const std::string_view name = a.name();
      std::size_t i = next;
      if (i >= N || name != names[i]) {
        for (i = 0; i < N && name != names[i];) ++i;
      }
      if (i == N) {
        document.warn_unknown(a.name(), node.name(), "attribute", name);
        continue;
      }
      if (values_[i]) {
        fail_attribute(document, a.name(), AttributeFault::twice, node.name(), name);
      }
      values_[i] = a;
      next = i + 1;
    }
  }

  bool has(std::size_t i) const { return !values_[i].empty(); }
  const char* place(std::size_t i) const { return has(i) ? values_[i].name() : node_.name(); }

  std::string_view text(std::size_t i) const {
    if (!has(i)) {
      fail_attribute(document_, node_.name(), AttributeFault::missing, node_.name(), names_[i]);
    }
    return values_[i].value();
  }

  // Required, within [low, high]: HK0502, HK0503 (no number), HK0504 (out of range).
  std::int64_t number(std::size_t i, std::int64_t low, std::int64_t high) const;
  std::int32_t int32(std::size_t i, std::int32_t low,
                     std::int32_t high = std::numeric_limits<std::int32_t>::max()) const {
    return static_cast<std::int32_t>(number(i, low, high));
  }
  // The same, `otherwise` where it is absent.
  std::int64_t number_or(std::size_t i, std::int64_t low, std::int64_t high,
                         std::int64_t otherwise) const {
    return has(i) ? number(i, low, high) : otherwise;
  }

  // `name found, expected ...`.
  [[noreturn]] void bad(std::size_t i, Code code, const std::string& found_and_expected,
                        std::string hint = {}) const {
    fail_attribute(document_, place(i), code, names_[i], found_and_expected, std::move(hint));
  }

 private:
  const XmlDocument& document_;
  pugi::xml_node node_;
  const Names& names_;
  std::array<pugi::xml_attribute, N> values_;
};

enum class NumberForm { good, not_a_number, octal, too_large };
// A number as the loaders write and read them: decimal or 0x hexadecimal, with an optional minus. A
// leading zero is refused because they would read the rest as octal.
NumberForm parse_number(std::string_view text, std::int64_t& value);

// The message and the code for a number that is not what it should be.
[[noreturn]] void fail_number(const XmlDocument& document, const char* at, std::string_view name,
                              std::string_view text, NumberForm form, std::int64_t low,
                              std::int64_t high);

template <std::size_t N>
std::int64_t Attributes<N>::number(std::size_t i, std::int64_t low, std::int64_t high) const {
  const std::string_view value = text(i);
  std::int64_t result = 0;
  const NumberForm form = parse_number(value, result);
  if (form != NumberForm::good || result < low || result > high) {
    fail_number(document_, place(i), names_[i], value, form, low, high);
  }
  return result;
}

}  // namespace hocket
