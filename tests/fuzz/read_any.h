// What must hold of any text at all, however it was made: it is refused with an Error, or it is
// read as an algorithm that prints and parses to an equal one.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "hocket/format.h"

namespace hocket::fuzz {

inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

// Whether `text` was read. Throws when a promise is broken.
inline bool read_any(std::string_view text) {
  Algorithm a;
  try {
    a = from_any(text, "fuzz");
  } catch (const Error&) {
    return false;
  }
  require(from_text(to_text(a)) == a, "the text form does not come back");
  // Consumers of any algorithm survive any algorithm.
  stats(a);
  for (const Target target : all_targets()) check_limits(a, target);
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && text[first] == '<') {
    require(from_xml(to_xml(a, {Target::hocket})) == a, "the XML does not come back");
  } else {
    // The text form holds what no XML reader takes.
    try {
      from_xml(to_xml(a, {Target::hocket}));
    } catch (const Error&) {
    }
  }
  return true;
}

}  // namespace hocket::fuzz
