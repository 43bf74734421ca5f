// What must hold of any text at all: what the reader takes, the verifier judges, in every way of
// asking, without a crash, and the report prints.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "hocket/format.h"
#include "hocket/verify.h"

namespace hocket::fuzz {

// Whether `text` was read.
inline bool verify_any(std::string_view text) {
  Algorithm a;
  try {
    a = from_any(text, "fuzz");
  } catch (const Error&) {
    return false;
  }
  const auto judge = [&](const VerifyOptions& options) {
    try {
      const VerifyReport report = verify(a, options);
      if (report.str().empty() || report.str().back() != '\n') throw std::logic_error("no report");
      if (to_json(report).empty()) throw std::logic_error("no JSON");
    } catch (const Error&) {
      // The options contradict each other, or the algorithm.
    }
  };
  judge({});
  VerifyOptions options;
  options.target = static_cast<Target>(text.size() % all_targets().size());
  options.slots = static_cast<int>(text.size() / 4 % 4);
  options.in_place = text.size() % 2 == 0;
  options.require_same_bits = true;
  options.orders = true;
  options.check = [](const FinalContents& contents) -> std::optional<std::string> {
    std::uint64_t all = 0;
    for (int r = 0; r < contents.collective().num_ranks() && r < 64; ++r) {
      for (int i = -1; i < 64; ++i) {
        const Slot slot{i % 2 == 0 ? BufferKind::input : BufferKind::output, i};
        const auto counts = contents.counts(r, slot);
        if (counts.empty() != (contents.value(r, slot) == 0)) return "a value without contents";
        for (const FinalContents::Count& c : counts) all += c.times;
      }
    }
    return all % 3 == 0 ? std::optional<std::string>("") : std::nullopt;
  };
  options.max_findings = static_cast<int>(text.size() / 16 % 3);
  judge(options);
  options = {};
  options.max_chunks = 8;
  options.max_bytes = static_cast<std::int64_t>(text.size()) * 1000;
  judge(options);
  return true;
}

}  // namespace hocket::fuzz
