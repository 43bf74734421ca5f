// Numbers the places in the user's source that operations come from, each place once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "hocket/location.h"

namespace hocket {

class SiteTable {
 public:
  // The number of `at` in `sites`, to which it is appended when new. Entry 0 is "unknown".
  std::uint32_t number(CallSite at, std::vector<CallSite>& sites) {
    if (!at.known()) return 0;
    Recent& recent = recent_[at.line() % recent_.size()];
    if (recent.at == at) return recent.number;
    const auto [entry, is_new] = numbers_.try_emplace(at, static_cast<std::uint32_t>(sites.size()));
    if (is_new) sites.push_back(at);
    recent = {at, entry->second};
    return recent.number;
  }

 private:
  struct Hash {
    std::size_t operator()(const CallSite& at) const {
      return std::hash<const void*>()(at.file()) * 31 + at.line() * 0x9e3779b97f4a7c15u;
    }
  };
  std::unordered_map<CallSite, std::uint32_t, Hash> numbers_;
  // The last one of each line number's remainder: a loop's few sites are found without hashing.
  struct Recent {
    CallSite at;
    std::uint32_t number = 0;
  };
  std::array<Recent, 16> recent_;
};

}  // namespace hocket
