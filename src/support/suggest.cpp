// Optimal string alignment distance: the usual typing slips cost one edit each.
#include "support/suggest.h"

#include <algorithm>
#include <utility>

namespace hocket {
namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_up(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_up, up);
    std::swap(up, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_up[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view typed,
                                       const std::vector<std::string>& names, std::size_t most) {
  constexpr std::size_t kLongestWord = 100;  // beyond it nobody made a slip
  std::vector<std::pair<std::size_t, std::string>> near;
  if (typed.empty() || typed.size() > kLongestWord) return {};
  for (const std::string& name : names) {
    const std::size_t distance = edits(typed, name);
    const std::size_t allowed = std::max<std::size_t>(1, typed.size() / 3);
    const bool contains = typed.size() >= 3 && name.find(typed) != std::string::npos;
    if (distance <= allowed || contains) near.emplace_back(distance, name);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > most) near.resize(most);
  std::vector<std::string> result;
  for (auto& [distance, name] : near) result.push_back(std::move(name));
  return result;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names) {
  const std::vector<std::string> near = nearest_names(typed, names);
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i) {
    text += i == 0 ? "did you mean " : i + 1 == near.size() ? " or " : ", ";
    text += near[i];
  }
  return text.empty() ? text : text + "?";
}

}  // namespace hocket
