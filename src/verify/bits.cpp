#include "verify/bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "verify/interpret.h"
#include "verify/origins.h"
#include "verify/words.h"

namespace hocket::verifying {
namespace {

// Groupings shown of a sum, and terms of one.
constexpr std::size_t kMostGroupings = 4;
constexpr int kMostTerms = 10;

using TreeId = std::uint32_t;  // 0: nothing; leaves have kLeaf set

// Sums as trees whose branches have no order, each tree once.
class Trees {
 public:
  static constexpr TreeId kLeaf = TreeId{1} << 31;

  Trees() : nodes_(1), table_(1024, 0) {}

  TreeId leaf(std::uint32_t origin) const { return kLeaf | origin; }
  static bool is_leaf(TreeId t) { return (t & kLeaf) != 0; }
  static std::uint32_t origin_of(TreeId t) { return t & ~kLeaf; }

  TreeId sum(TreeId a, TreeId b) {
    const Node node{std::min(a, b), std::max(a, b)};
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash(node) & mask;
    for (; table_[at] != 0; at = (at + 1) & mask) {
      const Node& known = nodes_[table_[at]];
      if (known.a == node.a && known.b == node.b) return table_[at];
    }
    HOCKET_CHECK(nodes_.size() < kLeaf, "the sums of an algorithm can be numbered");
    const auto id = static_cast<TreeId>(nodes_.size());
    nodes_.push_back(node);
    table_[at] = id;
    if (nodes_.size() * 2 > table_.size()) rehash();
    return id;
  }
  std::pair<TreeId, TreeId> terms(TreeId t) const { return {nodes_[t].a, nodes_[t].b}; }

 private:
  struct Node {
    TreeId a = 0;
    TreeId b = 0;
  };
  static std::size_t hash(const Node& node) {
    std::uint64_t x = std::uint64_t{node.a} << 32 | node.b;
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
  }
  void rehash() {
    table_.assign(table_.size() * 2, 0);
    const std::size_t mask = table_.size() - 1;
    for (std::size_t id = 1; id < nodes_.size(); ++id) {
      std::size_t at = hash(nodes_[id]) & mask;
      while (table_[at] != 0) at = (at + 1) & mask;
      table_[at] = static_cast<TreeId>(id);
    }
  }

  std::vector<Node> nodes_;    // 0 is no tree
  std::vector<TreeId> table_;  // open addressing, a power of two
};

struct Grouping {
  Trees& trees;
  std::int32_t large = 0;  // chains of at least that count add up their sources first

  std::uint32_t add(std::uint32_t a, std::uint32_t b) { return trees.sum(a, b); }
  bool sources_first(const Instr& chain) const { return chain.count >= large; }
  void read(InstrId, std::int32_t, CellId, std::uint32_t) {}
  void wrote(InstrId, std::int32_t, CellId) {}
  void made(InstrId, std::int32_t, std::uint32_t) {}
};

// "((in0+in1)+in2)", the deeper branch first; of a large sum only some terms.
class Renderer {
 public:
  Renderer(const Trees& trees, const Origins& origins) : trees_(trees), origins_(origins) {}

  std::string str(TreeId tree) {
    index_ = index_of(tree);
    left_ = kMostTerms;
    return text(tree, 0);
  }
  // The index that all terms have; none: they differ.
  std::optional<std::int32_t> index() const { return index_; }

 private:
  // Terms below, each tree counted once a use; stops at 2^64-1.
  std::uint64_t terms(TreeId tree) {
    std::vector<TreeId> open = {tree};
    while (!open.empty()) {
      const TreeId t = open.back();
      if (Trees::is_leaf(t) || terms_.contains(t)) {
        open.pop_back();
        continue;
      }
      const auto [a, b] = trees_.terms(t);
      const auto size = [&](TreeId x) -> std::uint64_t {
        if (Trees::is_leaf(x)) return 1;
        const auto known = terms_.find(x);
        return known == terms_.end() ? 0 : known->second;
      };
      const std::uint64_t na = size(a);
      const std::uint64_t nb = size(b);
      if (na == 0) open.push_back(a);
      if (nb == 0) open.push_back(b);
      if (na == 0 || nb == 0) continue;
      terms_[t] = na + nb < na ? ~std::uint64_t{0} : na + nb;
      open.pop_back();
    }
    return Trees::is_leaf(tree) ? 1 : terms_[tree];
  }

  std::optional<std::int32_t> index_of(TreeId tree) const {
    std::optional<std::int32_t> index;
    std::vector<TreeId> open = {tree};
    std::unordered_set<TreeId> seen;
    while (!open.empty()) {
      const TreeId t = open.back();
      open.pop_back();
      if (!Trees::is_leaf(t)) {
        if (!seen.insert(t).second) continue;
        open.push_back(trees_.terms(t).first);
        open.push_back(trees_.terms(t).second);
        continue;
      }
      const std::int32_t k = origins_.origin(Trees::origin_of(t)).index;
      if (index && *index != k) return std::nullopt;
      index = k;
    }
    return index;
  }

  std::string leaf(TreeId t) const {
    const Origin o = origins_.origin(Trees::origin_of(t));
    return index_ ? fmt::format("in{}", o.rank) : fmt::format("in{}[{}]", o.rank, o.index);
  }

  // `depth` bounds the recursion; the larger branch is followed in a loop.
  std::string text(TreeId tree, int depth) {
    if (Trees::is_leaf(tree)) {
      --left_;
      return leaf(tree);
    }
    if (left_ <= 0 || depth > 8) return fmt::format("({} terms)", terms(tree));
    std::vector<TreeId> smaller;  // from the outermost one
    TreeId inner = tree;
    while (!Trees::is_leaf(inner)) {
      auto [a, b] = trees_.terms(inner);
      // Equally large ones: the one that was made first.
      if (terms(b) > terms(a) || (terms(a) == terms(b) && first_origin(b) < first_origin(a))) {
        std::swap(a, b);
      }
      smaller.push_back(b);
      inner = a;
    }
    // The innermost additions come first; of many, the first ones and the last one.
    std::string result = leaf(inner);
    --left_;
    std::size_t open = 0;
    for (std::size_t k = smaller.size(); k-- > 0;) {
      if (left_ <= 1 && k > 1) {
        std::uint64_t rest = 0;
        for (std::size_t j = k; j > 0; --j) rest += terms(smaller[j]);
        result += fmt::format("+...{} more...", rest);
        k = 0;
      }
      result += fmt::format("+{})", text(smaller[k], depth + 1));
      ++open;
    }
    return std::string(open, '(') + result;
  }

  // The least origin along the first branches: only to order branches of one size.
  std::uint32_t first_origin(TreeId t) const {
    while (!Trees::is_leaf(t)) t = std::max(trees_.terms(t).first, trees_.terms(t).second);
    return Trees::origin_of(t);
  }

  const Trees& trees_;
  const Origins& origins_;
  std::unordered_map<TreeId, std::uint64_t> terms_;
  std::optional<std::int32_t> index_;
  int left_ = 0;
};

struct Place {
  int rank = 0;
  Slot slot;
  CellId cell = 0;
};

class Comparer {
 public:
  Comparer(const Loaded& loaded, const ExecutionOrder& order, const Execution& execution,
           const VerifyOptions& options)
      : loaded_(loaded), order_(order), options_(options), origins_(loaded) {
    find_groups(execution);
  }

  PropertyRuling compare() {
    if (!groups_.empty()) {
      compare_with(kNever);
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
  static constexpr std::int32_t kNever = 0x7fffffff;

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
      group.push_back({rank, slot, cell});
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
    std::vector<TreeId> cells(loaded_.num_cells(), 0);
    for (const Origins::Start& s : origins_.starts()) cells[s.cell] = trees.leaf(s.number);
    Grouping grouping{trees, large};
    Interpreter<Grouping>(loaded_, grouping, cells).run(order_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const TreeId first = cells[groups_[g].front().cell];
      const bool same = std::all_of(groups_[g].begin(), groups_[g].end(),
                                    [&](const Place& p) { return cells[p.cell] == first; });
      if (same || !differing_.insert(g).second) continue;
      if (static_cast<int>(findings_.size()) < options_.max_findings) {
        findings_.push_back(describe(groups_[g], cells, trees, large != kNever));
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
    Renderer renderer(trees, origins_);

    Finding f;
    f.at.rank = other.rank;
    f.buffer = other.slot.buffer;
    f.index = other.slot.index;
    f.expected = renderer.str(groupings[0]);
    f.found = renderer.str(groupings[1]);
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
      d.message += fmt::format("{}{}: {}", k == 0 ? "" : "; ", places_text(places[groupings[k]]),
                               renderer.str(groupings[k]));
    }
    if (renderer.index()) d.message += fmt::format(" of chunk {}", *renderer.index());
    d.hint = "let one rank add up each sum, and send it to the others";
    return f;
  }

  // "rank 0 output[3]", "ranks 1-7 output[3]".
  static std::string places_text(const std::vector<Place>& places) {
    std::map<Slot, std::vector<std::int32_t>> by_slot;
    for (const Place& p : places) by_slot[p.slot].push_back(p.rank);
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
