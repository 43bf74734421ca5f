// Files of the runtimes do not say which rank is the root.
#include <vector>

#include "hocket/verify.h"

namespace hocket {

std::optional<int> infer_root(const Algorithm& algorithm, const VerifyOptions& options) {
  // Each try is a whole verification: its steps and the chunks of the user's buffers.
  constexpr std::int64_t kMostWork = 20'000'000;
  const Collective& c = options.collective ? *options.collective : algorithm.collective;
  if (!has_root(c.kind())) return std::nullopt;
  VerifyOptions trial = options;
  trial.waste = false;
  trial.orders = false;
  trial.check = nullptr;
  trial.max_findings = 1;
  const auto fits = [&](int root) {
    trial.collective =
        Collective::make(c.kind(), c.num_ranks(), c.chunk_factor(), c.in_place(), root);
    try {
      const VerifyReport report = verify(algorithm, trial);
      for (const PlacementReport& placement : report.placements) {
        if (placement.of(Property::postcondition).ruling == Ruling::refuted ||
            placement.of(Property::initialised).ruling == Ruling::refuted ||
            placement.of(Property::structure).ruling != Ruling::proved) {
          return false;
        }
      }
      return true;
    } catch (const Error&) {
      return false;  // buffers of other sizes
    }
  };
  if (!algorithm.root_guessed && !options.collective) return c.root();
  if (fits(c.root())) return c.root();
  auto work = static_cast<std::int64_t>(algorithm.steps.size());
  for (int r = 0; r < c.num_ranks(); ++r) work += c.input_chunks(r) + c.output_chunks(r);
  if (work * algorithm.num_ranks() > kMostWork) return std::nullopt;
  for (int root = 0; root < algorithm.num_ranks(); ++root) {
    if (root != c.root() && fits(root)) return root;
  }
  return std::nullopt;
}

}  // namespace hocket
