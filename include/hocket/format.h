// Algorithms as text: the XML that the MSCCL runtimes load, and our own compact text form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hocket/algorithm.h"
#include "hocket/diagnostic.h"
#include "hocket/target.h"

namespace hocket {

struct XmlOptions {
  Target target = Target::msccl;
};

// The XML that `target` loads: its attributes, its names, two-space indent, no XML declaration, one
// newline at the end. For Target::hocket also the custom collective and the source lines, as elements and
// attributes that the other runtimes skip. Throws HK0409 where the target has no name for the collective,
// HK0412 where a name is too long for it. Linear; writes about 100 MB/s.
std::string to_xml(const Algorithm& algorithm, const XmlOptions& options = {});

// Reads XML of any of the dialects: tolerant where the runtimes are (unknown elements and attributes are
// warnings), strict where they would break or silently misread (HK05xx, with file and line). Never
// executes, resolves or expands anything. `file` is for messages. Memory: at most about 20 times the
// text.
Algorithm from_xml(std::string_view text, std::string file = "<xml>", const DiagnosticSink& warn = {});

// The compact text form, complete: from_text(to_text(a)) == a. docs/formats.md has the grammar.
std::string to_text(const Algorithm& algorithm);
Algorithm from_text(std::string_view text, std::string file = "<text>");

// Either: XML when the first non-blank character is '<', else the text form.
Algorithm from_any(std::string_view text, std::string file = "<text>",
                   const DiagnosticSink& warn = {});

}  // namespace hocket
