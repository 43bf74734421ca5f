// What chunks hold, as values. A value is a multiset of origins; two values are equal exactly when
// their ids are, so a copy, a sum and a comparison cost O(1) however many contributions there are.
//
// A single origin is its own id (no memory). A sum is a node of two older values, hash-consed by a
// fingerprint of the multiset: the sum modulo 2^64, in two independent lanes, of a pseudo-random
// constant for each contribution. Such a sum does not depend on the order or the grouping of the
// additions, and counts a repeated contribution as often as it occurs. Two different multisets get
// one fingerprint with probability 2^-128 for each pair, as long as neither has 2^64 contributions:
// beyond, what is equal modulo 2^64 need not be equal, and every such sum is a value of its own.
// The multiset itself is walked only to be shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hocket/collective.h"
#include "support/big_vector.h"

namespace hocket {

// Opaque; 0 is "nothing".
using ValueId = std::uint32_t;
inline constexpr ValueId kNothing = 0;

struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  Fingerprint& operator+=(const Fingerprint& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// The same on every machine and in every run.
Fingerprint origin_fingerprint(Origin origin);

// An origin and how often it was added. Counts stop at 2^64-1.
struct Contribution {
  Origin origin;
  std::uint64_t times = 1;
  friend bool operator==(const Contribution&, const Contribution&) = default;
};

class ChunkValues {
 public:
  // For origins (rank, index) with rank < ranks and index < indices; ranks * indices < 2^31.
  ChunkValues(int ranks, int indices);

  ValueId origin(Origin origin) const;
  ValueId sum(ValueId a, ValueId b);  // neither is nothing

  static bool is_origin(ValueId value) { return (value & kOriginBit) != 0; }
  Origin origin_of(ValueId value) const;  // of a value that is an origin
  Fingerprint fingerprint(ValueId value) const;
  // Contributions, repeats included. Stops at 2^64-1.
  std::uint64_t count(ValueId value) const;
  // Sorted by origin. O(distinct nodes below, times log); no recursion.
  std::vector<Contribution> contributions(ValueId value) const;
  // The same with exact counts modulo 2^64, for sums of something over all contributions.
  std::vector<Contribution> contributions_modulo(ValueId value) const;

  std::size_t num_sums() const { return nodes_.size() - 1; }

 private:
  static constexpr ValueId kOriginBit = ValueId{1} << 31;
  struct Node {
    Fingerprint fingerprint;
    std::uint64_t count = 0;
    ValueId a = kNothing;
    ValueId b = kNothing;
  };
  void rehash();
  template <typename Add>
  std::vector<Contribution> counted(ValueId value, Add plus) const;

  std::uint32_t indices_;
  BigVector<Node> nodes_;     // 0 is not a value
  BigVector<ValueId> table_;  // open addressing by fingerprint, a power of two
};

}  // namespace hocket
