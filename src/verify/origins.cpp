#include "verify/origins.h"

namespace hocket::verifying {

Origins::Origins(const Loaded& loaded) {
  for_each_slot(loaded, [&](int rank, Slot slot, CellId cell) {
    const auto origin = loaded.collective->initial(rank, slot);
    if (origin && cell != kNone) sorted_.push_back(*origin);
  });
  // Most collectives name them in order, each once.
  const bool in_order =
      std::adjacent_find(sorted_.begin(), sorted_.end(), std::greater_equal<>()) == sorted_.end();
  if (!in_order) {
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  }
  starts_.reserve(sorted_.size());
  for_each_slot(loaded, [&](int rank, Slot slot, CellId cell) {
    const auto origin = loaded.collective->initial(rank, slot);
    if (origin && cell != kNone) {
      const auto next = static_cast<std::uint32_t>(starts_.size());
      starts_.push_back({cell, in_order ? next : *number(*origin)});
    }
  });
}

}  // namespace hocket::verifying
