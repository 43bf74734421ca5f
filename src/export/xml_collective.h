// The collective of an XML file: from its name, its chunks a loop and, in our own dialect, an
// element that says what a custom collective demands.
#pragma once

#include <cstdint>
#include <optional>

#include "export/xml_document.h"
#include "hocket/algorithm.h"

namespace hocket {

// What the root element says of the collective.
struct CollectiveFacts {
  CollectiveKind kind = CollectiveKind::custom;
  bool in_place = false;
  std::optional<std::int32_t> root;    // none: not said
  const char* chunks_place = nullptr;  // of nchunksperloop, for complaints
  pugi::xml_node element;              // <collective>, or nothing
};

// `algorithm` is complete but for its collective. HK0503 where its chunks do not fit the
// collective.
Collective read_collective(const XmlDocument& document, const Algorithm& algorithm,
                           const CollectiveFacts& facts);

}  // namespace hocket
