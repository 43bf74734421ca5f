// The origins that lie somewhere at the start, numbered: the leaves of every sum. Their own numbers
// would do, but a file may name few origins with large ones.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/chunk_values.h"
#include "verify/loaded.h"

namespace hocket::verifying {

class Origins {
 public:
  explicit Origins(const Loaded& loaded);

  std::uint32_t size() const { return static_cast<std::uint32_t>(sorted_.size()); }
  Origin origin(std::uint32_t number) const { return sorted_[number]; }
  std::optional<std::uint32_t> number(Origin origin) const {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), origin);
    if (at == sorted_.end() || *at != origin) return std::nullopt;
    return static_cast<std::uint32_t>(at - sorted_.begin());
  }
  // The cells that hold an origin at the start, and its number.
  struct Start {
    CellId cell = 0;
    std::uint32_t number = 0;
  };
  const std::vector<Start>& starts() const { return starts_; }

 private:
  std::vector<Origin> sorted_;
  std::vector<Start> starts_;
};

// Calls visit(rank, slot, cell) for each slot of the user's buffers that the collective knows, once
// where two names are one chunk; cell kNone: the algorithm's buffer does not reach so far.
template <typename Visit>
void for_each_slot(const Loaded& loaded, Visit visit) {
  for (int r = 0; r < loaded.collective->num_ranks() && r < loaded.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      const std::int32_t size =
          loaded.sizes[static_cast<std::size_t>(r)][static_cast<std::size_t>(kind)];
      for (std::int32_t k = 0; k < loaded.collective->chunks(r, kind); ++k) {
        const Slot slot{kind, k};
        if (loaded.in_place && loaded.collective->alias(r, slot) != slot) continue;
        visit(r, slot, k < size ? loaded.cell(r, kind, k) : kNone);
      }
    }
  }
}

}  // namespace hocket::verifying
