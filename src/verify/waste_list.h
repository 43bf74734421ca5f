// Warnings of waste as they are found: counted all, written out while there is room.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "verify/loaded.h"
#include "verify/waste.h"

namespace hocket::verifying {

class WasteList {
 public:
  WasteList(const Loaded& loaded, int most) : loaded_(loaded), most_(most) {}

  // What a warning says beyond its place.
  struct Text {
    std::string message;
    std::string hint;
    std::vector<StepPlace> chain;
  };

  // `write` is called only where the warning is listed.
  template <typename Write>
  void add(Code code, StepPlace at, std::int64_t saves, Write write) {
    ++count_;
    std::vector<Finding>& list = lists_[static_cast<std::size_t>(code) - kFirst];
    if (static_cast<int>(list.size()) >= most_) return;
    Text text = write();
    Finding f;
    f.at = at;
    f.saves = saves;
    f.chain = std::move(text.chain);
    f.diagnostic.severity = Severity::warning;
    f.diagnostic.code = code;
    f.diagnostic.message = std::move(text.message);
    f.diagnostic.hint = std::move(text.hint);
    if (at.step >= 0) f.diagnostic.where = loaded_.algorithm->location_of(global(at));
    list.push_back(std::move(f));
  }

  // Of a step by its position: into Algorithm::steps.
  std::uint32_t global(StepPlace at) const {
    return loaded_.algorithm->ranks[static_cast<std::size_t>(at.rank)]
               .threadblocks[static_cast<std::size_t>(at.tb)]
               .first_step +
           static_cast<std::uint32_t>(at.step);
  }

  Waste take() {
    Waste result;
    result.num_findings = count_;
    for (std::vector<Finding>& list : lists_) {
      std::move(list.begin(), list.end(), std::back_inserter(result.findings));
    }
    return result;
  }

 private:
  static constexpr auto kFirst = static_cast<std::size_t>(Code::ImpliedDependence);
  static constexpr auto kLast = static_cast<std::size_t>(Code::MissedFusion);

  const Loaded& loaded_;
  int most_;
  std::int64_t count_ = 0;
  std::array<std::vector<Finding>, kLast - kFirst + 1> lists_;
};

// "tb 1 step 2", of the same rank as what was said before.
inline std::string here(const StepPlace& place) {
  return fmt::format("tb {} step {}", place.tb, place.step);
}

// Would loaders merge `next` into `before`, two reduces in a row, if no dependence and no flag kept
// them apart?
inline bool could_merge(const Instr& before, const Instr& next) {
  return before.op == OpCode::reduce && next.op == OpCode::reduce &&
         before.dst_buffer == next.dst_buffer && before.dst_offset == next.dst_offset &&
         before.src_buffer == next.src_buffer;
}

}  // namespace hocket::verifying
