#include "verify/orders.h"

#include <fmt/format.h>

#include <unordered_map>

#include "verify/origins.h"
#include "verify/sum_trees.h"

namespace hocket::verifying {

std::vector<SumOrder> reduction_orders(const Loaded& loaded, const ExecutionOrder& order,
                                       const Execution& execution) {
  // Of a longer sum the first ones and the last one are written; of all sums, when the text has
  // become long.
  constexpr int kMostTerms = 4096;
  constexpr int kFewTerms = 10;
  constexpr std::size_t kLong = std::size_t{64} << 20;
  const Origins origins(loaded);
  Trees trees;
  const std::vector<TreeId> cells = trees_at_end(loaded, order, origins, kNeverLarge, trees);
  TreeWriter full(trees, origins, kMostTerms);
  TreeWriter brief(trees, origins, kFewTerms);
  std::size_t written = 0;
  std::vector<SumOrder> orders;
  std::unordered_map<TreeId, std::size_t> number;  // into orders
  for_each_slot(loaded, [&](int rank, Slot slot, CellId cell) {
    if (cell == kNone || execution.contents[cell] == kNothing || Trees::is_leaf(cells[cell])) {
      return;
    }
    if (loaded.collective->has_postcondition() &&
        loaded.collective->expected(rank, slot).kind == Expected::Kind::any) {
      return;
    }
    const auto [at, fresh] = number.try_emplace(cells[cell], orders.size());
    if (fresh) {
      TreeWriter& writer = written < kLong ? full : brief;
      std::string text = writer.str(cells[cell]);
      written += text.size();
      if (writer.index()) text += fmt::format(" of chunk {}", *writer.index());
      orders.push_back({std::move(text), {}});
    }
    orders[at->second].places.push_back({rank, slot});
  });
  return orders;
}

}  // namespace hocket::verifying
