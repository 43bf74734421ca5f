#include "verify/origins.h"

namespace hocket::verifying {

Origins::Origins(const Loaded& loaded) {
  for_each_slot(loaded, [&](int rank, Slot slot, CellId cell) {
    const auto origin = loaded.collective->initial(rank, slot);
    if (origin && cell != kNone) sorted_.push_back(*origin);
  });
  std::sort(sorted_.begin(), sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  for_each_slot(loaded, [&](int rank, Slot slot, CellId cell) {
    const auto origin = loaded.collective->initial(rank, slot);
    if (origin && cell != kNone) starts_.push_back({cell, *number(*origin)});
  });
}

}  // namespace hocket::verifying
