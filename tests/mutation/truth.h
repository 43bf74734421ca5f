// What is true of an algorithm, found by trying all its schedules.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "hocket/verify.h"

namespace hocket::mutation {

enum class Fact { holds, fails, open };

struct Truth {
  struct Of {
    Fact fact = Fact::open;  // open: rests on a property that fails
    std::string why;
  };
  std::array<Of, kNumProperties> properties;
  std::optional<int> least_slots;  // none: no number is enough, or not looked for
  // Where it is stuck: the largest message that would not be; none: no size would.
  std::optional<std::int64_t> largest_safe_bytes;
  std::size_t states = 0;
  bool exhaustive = true;     // every state was seen; else orders rest on confluence alone
  std::string contradiction;  // a fault of the brute force itself

  const Of& of(Property p) const { return properties[static_cast<std::size_t>(p)]; }
  Of& of(Property p) { return properties[static_cast<std::size_t>(p)]; }
};

// `target` none: as all of them would run it. Those that differ: RCCL's transfers are smaller, its
// `s` with LL may lag, and its merged chains start with the destination.
Truth find_truth(const Algorithm& algorithm, std::optional<Target> target = std::nullopt);

}  // namespace hocket::mutation
