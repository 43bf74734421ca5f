#include "verify/sum_trees.h"

#include <fmt/format.h>

#include "verify/interpret.h"

namespace hocket::verifying {
namespace {

// A branch that is not followed in the loop has at most half of its tree's terms, of which there
// are less than 2^64.
constexpr int kDeepest = 64;

struct Grouping {
  Trees& trees;
  std::int32_t large = 0;  // chains of at least that count add up their sources first

  std::uint32_t add(std::uint32_t a, std::uint32_t b) { return trees.sum(a, b); }
  bool sources_first(const Instr& chain) const { return chain.count >= large; }
  void read(InstrId, std::int32_t, CellId, std::uint32_t) {}
  void wrote(InstrId, std::int32_t, CellId) {}
  void made(InstrId, std::int32_t, std::uint32_t) {}
};

}  // namespace

TreeId Trees::sum(TreeId a, TreeId b) {
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

void Trees::rehash() {
  table_.assign(table_.size() * 2, 0);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t id = 1; id < nodes_.size(); ++id) {
    std::size_t at = hash(nodes_[id]) & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = static_cast<TreeId>(id);
  }
}

std::vector<TreeId> trees_at_end(const Loaded& loaded, const ExecutionOrder& order,
                                 const Origins& origins, std::int32_t large, Trees& trees) {
  std::vector<TreeId> cells(loaded.num_cells(), 0);
  for (const Origins::Start& s : origins.starts()) cells[s.cell] = trees.leaf(s.number);
  Grouping grouping{trees, large};
  Interpreter<Grouping>(loaded, grouping, cells).run(order);
  return cells;
}

std::string TreeWriter::str(TreeId tree) {
  index_ = below(tree).index;
  left_ = most_terms_;
  return text(tree, 0);
}

// Each tree is looked at once, however many slots hold it or a sum of it.
const TreeWriter::Below& TreeWriter::below(TreeId tree) {
  std::vector<TreeId> open = {tree};
  while (!open.empty()) {
    const TreeId t = open.back();
    if (below_.contains(t)) {
      open.pop_back();
      continue;
    }
    if (Trees::is_leaf(t)) {
      below_[t] = {1, origins_.origin(Trees::origin_of(t)).index};
      continue;
    }
    const auto [a, b] = trees_.terms(t);
    const auto left = below_.find(a);
    const auto right = below_.find(b);
    if (left == below_.end()) open.push_back(a);
    if (right == below_.end()) open.push_back(b);
    if (left == below_.end() || right == below_.end()) continue;
    Below both = left->second;
    both.terms += right->second.terms;
    if (both.terms < right->second.terms) both.terms = ~std::uint64_t{0};
    if (both.index != right->second.index) both.index.reset();
    below_[t] = both;
  }
  return below_.at(tree);
}

std::uint64_t TreeWriter::terms(TreeId tree) { return below(tree).terms; }

std::string TreeWriter::leaf(TreeId t) const {
  const Origin o = origins_.origin(Trees::origin_of(t));
  return index_ ? fmt::format("in{}", o.rank) : fmt::format("in{}[{}]", o.rank, o.index);
}

// `depth` bounds the recursion; the larger branch is followed in a loop.
std::string TreeWriter::text(TreeId tree, int depth) {
  if (Trees::is_leaf(tree)) {
    --left_;
    return leaf(tree);
  }
  if (left_ <= 0 || depth > kDeepest) return fmt::format("({} terms)", terms(tree));
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
std::uint32_t TreeWriter::first_origin(TreeId t) const {
  while (!Trees::is_leaf(t)) t = std::max(trees_.terms(t).first, trees_.terms(t).second);
  return Trees::origin_of(t);
}

}  // namespace hocket::verifying
