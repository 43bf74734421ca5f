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
// newline at the end. For Target::hocket also root, custom collective and source lines, as elements
// and attributes that the other runtimes skip; docs/formats.md has the dialects. Throws HK0409
// where the target has no name for the collective, HK0411 where no message size is left, HK0412
// where its reader cannot keep a name. Whether the target runs it (RCCL, for one, has no rrs) is
// decided by compile() for that target, or by check_limits(). Linear, ten million attributes a
// second and more; the text is the only memory.
std::string to_xml(const Algorithm& algorithm, const XmlOptions& options = {});

// Reads XML of any of the dialects: tolerant where the runtimes are (unknown elements and
// attributes are warnings), strict where they would break or silently misread (HK05xx, with file
// and line), so that operands, peers and dependences of what is returned exist. Never executes,
// resolves or expands anything. `file` is for messages. Memory: at most about 20 times the text.
Algorithm from_xml(std::string_view text, std::string file = "<xml>",
                   const DiagnosticSink& warn = {});

// The compact text form, complete: from_text(to_text(a)) == a, whatever `a` is, source lines
// included. docs/formats.md has the grammar. It refuses what it cannot read (HK06xx, with file and
// line), not what cannot run.
std::string to_text(const Algorithm& algorithm);
Algorithm from_text(std::string_view text, std::string file = "<text>");

// What an algorithm must compute, as a JSON file beside it: XML for the runtimes names no custom
// collective and no root. docs/formats.md has the form. from_post_json(to_post_json(c)) == c.
// Refuses what it cannot read (HK0603, with the line) or use (HK0604, with the place in the file);
// memory is bounded by the file's size.
std::string to_post_json(const Collective& collective);
Collective from_post_json(std::string_view text, std::string file = "<json>");

// Either: XML when the first non-blank character is '<', else the text form.
Algorithm from_any(std::string_view text, std::string file = "<text>",
                   const DiagnosticSink& warn = {});

}  // namespace hocket
