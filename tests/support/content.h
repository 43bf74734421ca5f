// What a slot holds, as the test oracles see it: a plain sorted list of origins, repeats and all.
// No hashing, no sharing: two contents are equal exactly when the lists are.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hocket/collective.h"

namespace hocket::oracle {

using Content = std::vector<Origin>;  // sorted

// None: nothing was ever written there.
using MaybeContent = std::optional<Content>;

inline Content sum(const Content& a, const Content& b) {
  Content result;
  result.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

// "r0[1] + r2[0]", or "nothing".
inline std::string str(const MaybeContent& content) {
  if (!content) return "nothing";
  std::string text;
  for (const Origin& origin : *content) {
    if (!text.empty()) text += " + ";
    text += fmt::format("r{}[{}]", origin.rank, origin.index);
  }
  return text;
}

// The list that an Expected stands for; `ranks` is the number of ranks.
inline Content expected_content(const Expected& expected, int ranks) {
  Content result;
  switch (expected.kind) {
    case Expected::Kind::any:
      break;
    case Expected::Kind::one:
      result = {expected.origin};
      break;
    case Expected::Kind::all_ranks:
      for (int r = 0; r < ranks; ++r) result.push_back({r, expected.origin.index});
      break;
    case Expected::Kind::list:
      result.assign(expected.list.begin(), expected.list.end());
      break;
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace hocket::oracle
