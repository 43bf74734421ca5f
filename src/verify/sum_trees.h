// Sums as trees: what was added to what. The operators commute, so branches have no order; two sums
// of floating-point numbers have the same bits in every case exactly when their trees are equal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "verify/execution_order.h"
#include "verify/loaded.h"
#include "verify/origins.h"

namespace hocket::verifying {

using TreeId = std::uint32_t;  // 0: nothing; leaves have kLeaf set

// Each tree once.
class Trees {
 public:
  static constexpr TreeId kLeaf = TreeId{1} << 31;

  Trees() : nodes_(1), table_(1024, 0) {}

  TreeId leaf(std::uint32_t origin) const { return kLeaf | origin; }
  static bool is_leaf(TreeId t) { return (t & kLeaf) != 0; }
  static std::uint32_t origin_of(TreeId t) { return t & ~kLeaf; }

  TreeId sum(TreeId a, TreeId b);
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
  void rehash();

  std::vector<Node> nodes_;    // 0 is no tree
  std::vector<TreeId> table_;  // open addressing, a power of two
};

// Of every cell at the end; 0: nothing of worth. Merged reduces of at least `large` chunks add up
// their sources first, others begin with the destination. The order must be complete.
inline constexpr std::int32_t kNeverLarge = 0x7fffffff;
std::vector<TreeId> trees_at_end(const Loaded& loaded, const ExecutionOrder& order,
                                 const Origins& origins, std::int32_t large, Trees& trees);

// "((in0+in1)+in2)", the deeper branch first; of a sum of more than `most_terms` only some terms.
class TreeWriter {
 public:
  TreeWriter(const Trees& trees, const Origins& origins, int most_terms)
      : trees_(trees), origins_(origins), most_terms_(most_terms) {}

  std::string str(TreeId tree);
  // The index that all terms of the last one have; none: they differ.
  std::optional<std::int32_t> index() const { return index_; }

 private:
  struct Below {
    std::uint64_t terms = 0;            // each as often as it is used; stops at 2^64-1
    std::optional<std::int32_t> index;  // that all of them have
  };
  const Below& below(TreeId tree);
  std::uint64_t terms(TreeId tree);
  std::string leaf(TreeId t) const;
  std::string text(TreeId tree, int depth);
  std::uint32_t first_origin(TreeId t) const;

  const Trees& trees_;
  const Origins& origins_;
  const int most_terms_;
  std::unordered_map<TreeId, Below> below_;
  std::optional<std::int32_t> index_;
  int left_ = 0;
};

}  // namespace hocket::verifying
