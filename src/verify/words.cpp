#include "verify/words.h"

#include <fmt/format.h>

#include <map>

namespace hocket::verifying {
namespace {

// Terms of a sum that are listed.
constexpr std::size_t kMostTerms = 6;

}  // namespace

Location location_of(const Loaded& loaded, InstrId i) {
  const Block& block = loaded.blocks[loaded.instrs[i].block];
  const ThreadBlock& tb = loaded.algorithm->ranks[static_cast<std::size_t>(block.rank)]
                              .threadblocks[static_cast<std::size_t>(block.tb)];
  const Algorithm& a = *loaded.algorithm;
  const std::size_t step = tb.first_step + static_cast<std::size_t>(loaded.instrs[i].step);
  if (step >= a.step_locations.size() || a.step_locations[step] >= a.locations.size()) return {};
  return a.locations[a.step_locations[step]];
}

void locate(const Loaded& loaded, InstrId i, Diagnostic& diagnostic) {
  diagnostic.where = location_of(loaded, i);
}

void note_step(const Loaded& loaded, InstrId i, std::string_view text, Diagnostic& diagnostic) {
  diagnostic.notes.push_back(
      {fmt::format("{} ({}): {}", str(loaded.place(i)), op_info(loaded.instrs[i].op).name, text),
       location_of(loaded, i)});
}

std::string places_text(const std::vector<SumOrder::Place>& places) {
  std::map<Slot, std::vector<std::int32_t>> by_slot;
  for (const SumOrder::Place& p : places) by_slot[p.slot].push_back(p.rank);
  std::string text;
  std::size_t listed = 0;
  for (const auto& [slot, ranks] : by_slot) {
    if (listed == 3) return text + fmt::format(" and {} more slots", by_slot.size() - listed);
    if (listed++ > 0) text += ", ";
    text += fmt::format("rank{} {} {}[{}]", ranks.size() == 1 ? "" : "s", ranks_text(ranks),
                        buffer_kind_name(slot.buffer), slot.index);
  }
  return text;
}

std::string ranks_text(const std::vector<std::int32_t>& ranks, std::size_t most) {
  std::string text;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    if (++runs > most) return text + fmt::format("... ({} in all)", ranks.size());
    text +=
        end - i == 1 ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[end - 1]);
    i = end;
  }
  return text;
}

std::string content_text(const std::vector<Contribution>& content) {
  if (content.empty()) return "nothing";
  std::map<std::pair<std::int32_t, std::uint64_t>, std::vector<std::int32_t>> terms;
  for (const Contribution& c : content) terms[{c.origin.index, c.times}].push_back(c.origin.rank);
  std::string text;
  std::size_t listed = 0;
  for (const auto& [what, ranks] : terms) {
    if (listed == kMostTerms) {
      text += fmt::format(" + ... ({} chunks in all)", content.size());
      break;
    }
    if (listed++ > 0) text += " + ";
    text += fmt::format("in[{}] of rank{} {}", what.first, ranks.size() == 1 ? "" : "s",
                        ranks_text(ranks));
    if (what.second == 2) text += " twice";
    if (what.second > 2) text += fmt::format(" {} times", what.second);
  }
  const bool alone = content.size() == 1 && content[0].times == 1;
  return alone ? text : "sum of " + text;
}

std::vector<Contribution> difference(const std::vector<Contribution>& a,
                                     const std::vector<Contribution>& b) {
  std::vector<Contribution> rest;
  auto other = b.begin();
  for (const Contribution& c : a) {
    while (other != b.end() && other->origin < c.origin) ++other;
    const std::uint64_t there = other != b.end() && other->origin == c.origin ? other->times : 0;
    if (c.times > there) rest.push_back({c.origin, c.times - there});
  }
  return rest;
}

}  // namespace hocket::verifying
