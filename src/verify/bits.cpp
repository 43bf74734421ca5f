#include "verify/bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "verify/origins.h"
#include "verify/sum_trees.h"
#include "verify/words.h"

namespace hocket::verifying {
namespace {

// Groupings shown of a sum, and terms of one.
constexpr std::size_t kMostGroupings = 4;
constexpr int kMostTerms = 10;

struct Place : SumOrder::Place {
  CellId cell = 0;
};

std::string text_of(const std::vector<Place>& places) {
  return places_text({places.begin(), places.end()});
}

class Comparer {
 public:
  Comparer(const Loaded& loaded, const ExecutionOrder& order, const Execution& execution,
           const VerifyOptions& options)
      : loaded_(loaded), order_(order), options_(options), origins_(loaded) {
    find_groups(execution);
  }

  PropertyRuling compare() {
    if (!groups_.empty()) {
      compare_with(kNeverLarge);
      for (const std::int32_t large : chain_sizes()) compare_with(large);
    }
    PropertyRuling result;
    result.findings = std::move(findings_);
    result.num_findings = static_cast<std::int64_t>(differing_.size());
    result.ruling = differing_.empty() ? Ruling::proved : Ruling::refuted;
    if (groups_.empty()) {
      result.summary = "no two slots must hold the same sum";
    } else if (differing_.empty()) {
      result.summary = fmt::format("{} sum{} in several slots, each added up in one order",
                                   groups_.size(), groups_.size() == 1 ? "" : "s");
    } else {
      result.summary = fmt::format("{} of {} sums are added up in different orders",
                                   differing_.size(), groups_.size());
    }
    return result;
  }

 private:
  // Slots of the postcondition that hold the same sum.
  void find_groups(const Execution& execution) {
    std::unordered_map<ValueId, std::vector<Place>> by_content;
    std::vector<ValueId> in_order;
    for_each_slot(loaded_, [&](int rank, Slot slot, CellId cell) {
      if (cell == kNone) return;
      const ValueId content = execution.contents[cell];
      // A lone origin has no order.
      if (content == kNothing || ChunkValues::is_origin(content)) return;
      if (loaded_.collective->expected(rank, slot).kind == Expected::Kind::any) return;
      std::vector<Place>& group = by_content[content];
      if (group.empty()) in_order.push_back(content);
      group.push_back({{rank, slot}, cell});
    });
    for (const ValueId content : in_order) {
      if (by_content[content].size() > 1) groups_.push_back(std::move(by_content[content]));
    }
  }

  // Counts of merged chains, where a target may add up their sources first.
  std::set<std::int32_t> chain_sizes() const {
    std::set<std::int32_t> sizes;
    if (loaded_.algorithm->protocol != Protocol::simple) return sizes;
    if (options_.target && *options_.target != Target::msccl &&
        *options_.target != Target::msccl_executor) {
      return sizes;
    }
    for (const Instr& i : loaded_.instrs) {
      if (i.more_sources > 0) sizes.insert(i.count);
    }
    return sizes;
  }

  void compare_with(std::int32_t large) {
    Trees trees;
    const std::vector<TreeId> cells = trees_at_end(loaded_, order_, origins_, large, trees);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const TreeId first = cells[groups_[g].front().cell];
      const bool same = std::all_of(groups_[g].begin(), groups_[g].end(),
                                    [&](const Place& p) { return cells[p.cell] == first; });
      if (same || !differing_.insert(g).second) continue;
      if (static_cast<int>(findings_.size()) < options_.max_findings) {
        findings_.push_back(describe(groups_[g], cells, trees, large != kNeverLarge));
      }
    }
  }

  Finding describe(const std::vector<Place>& group, const std::vector<TreeId>& cells,
                   const Trees& trees, bool sources_first) const {
    // In the order in which they first occur.
    std::vector<TreeId> groupings;
    std::unordered_map<TreeId, std::vector<Place>> places;
    for (const Place& p : group) {
      std::vector<Place>& there = places[cells[p.cell]];
      if (there.empty()) groupings.push_back(cells[p.cell]);
      there.push_back(p);
    }
    const Place& other = places[groupings[1]].front();
    TreeWriter writer(trees, origins_, kMostTerms);

    Finding f;
    f.at.rank = other.rank;
    f.buffer = other.slot.buffer;
    f.index = other.slot.index;
    f.expected = writer.str(groupings[0]);
    f.found = writer.str(groupings[1]);
    Diagnostic& d = f.diagnostic;
    d.severity = options_.require_same_bits ? Severity::error : Severity::warning;
    d.code = Code::DifferentBits;
    d.message =
        fmt::format("{} and {} hold the same sum, but not the same bits{}: ",
                    places_text({places[groupings[0]].front()}), places_text({other}),
                    sources_first ? ", where large pieces add up merged sources first" : "");
    for (std::size_t k = 0; k < groupings.size(); ++k) {
      if (k == kMostGroupings) {
        d.message += fmt::format("; and {} more orders", groupings.size() - k);
        break;
      }
      d.message += fmt::format("{}{}: {}", k == 0 ? "" : "; ", text_of(places[groupings[k]]),
                               writer.str(groupings[k]));
    }
    if (writer.index()) d.message += fmt::format(" of chunk {}", *writer.index());
    d.hint = "let one rank add up each sum, and send it to the others";
    return f;
  }

  const Loaded& loaded_;
  const ExecutionOrder& order_;
  const VerifyOptions& options_;
  const Origins origins_;
  std::vector<std::vector<Place>> groups_;
  std::set<std::size_t> differing_;
  std::vector<Finding> findings_;
};

}  // namespace

PropertyRuling compare_bits(const Loaded& loaded, const ExecutionOrder& order,
                            const Execution& execution, const VerifyOptions& options) {
  return Comparer(loaded, order, execution, options).compare();
}

}  // namespace hocket::verifying
