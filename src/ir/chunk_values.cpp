// Hash-consed sums of origins.
#include "ir/chunk_values.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "hocket/diagnostic.h"

namespace hocket {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > kMost - b ? kMost : a + b;
}

// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", 2014, with Stafford's variant 13 of the constants): a bijection that avalanches.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x;
}

}  // namespace

Fingerprint origin_fingerprint(Origin origin) {
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(origin.rank)} << 32 |
                            static_cast<std::uint32_t>(origin.index);
  // Two rounds with a different offset in each lane: the lanes are unrelated functions of the key.
  const std::uint64_t low = mix(mix(key + 0x9e3779b97f4a7c15u) + 0x6a09e667f3bcc909u);
  const std::uint64_t high = mix(mix(key + 0xbb67ae8584caa73bu) ^ 0x3c6ef372fe94f82bu);
  return {low, high};
}

ChunkValues::ChunkValues(int ranks, int indices)
    : indices_(static_cast<std::uint32_t>(std::max(indices, 1))), nodes_(1), table_(64, kNothing) {
  HOCKET_CHECK(std::int64_t{ranks} * indices < std::int64_t{kOriginBit},
               "the origins of a program can be numbered");
}

ValueId ChunkValues::origin(Origin origin) const {
  const auto rank = static_cast<std::uint32_t>(origin.rank);
  return kOriginBit | (rank * indices_ + static_cast<std::uint32_t>(origin.index));
}

Origin ChunkValues::origin_of(ValueId value) const {
  const std::uint32_t number = value & ~kOriginBit;
  return {static_cast<std::int32_t>(number / indices_),
          static_cast<std::int32_t>(number % indices_)};
}

Fingerprint ChunkValues::fingerprint(ValueId value) const {
  return is_origin(value) ? origin_fingerprint(origin_of(value)) : nodes_[value].fingerprint;
}

std::uint64_t ChunkValues::count(ValueId value) const {
  return is_origin(value) ? 1 : nodes_[value].count;
}

ValueId ChunkValues::sum(ValueId a, ValueId b) {
  HOCKET_CHECK(a != kNothing && b != kNothing, "a sum has two terms");
  Node node;
  node.fingerprint = fingerprint(a);
  node.fingerprint += fingerprint(b);
  node.count = saturating_add(count(a), count(b));
  node.a = a;
  node.b = b;
  // Its fingerprint says nothing: such a sum is found by nobody.
  const bool countless = node.count == kMost;
  const std::size_t mask = table_.size() - 1;
  std::size_t at = node.fingerprint.low & mask;
  for (; !countless && table_[at] != kNothing; at = (at + 1) & mask) {
    const Node& known = nodes_[table_[at]];
    if (known.fingerprint == node.fingerprint && known.count == node.count) return table_[at];
  }
  HOCKET_CHECK(nodes_.size() < kOriginBit, "the sums of a program can be numbered");
  const auto id = static_cast<ValueId>(nodes_.size());
  nodes_.push_back(node);
  if (!countless) table_[at] = id;
  if (nodes_.size() * 2 > table_.size()) rehash();
  return id;
}

void ChunkValues::rehash() {
  table_.assign(table_.size() * 2, kNothing);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t id = 1; id < nodes_.size(); ++id) {
    if (nodes_[id].count == kMost) continue;
    std::size_t at = nodes_[id].fingerprint.low & mask;
    while (table_[at] != kNothing) at = (at + 1) & mask;
    table_[at] = static_cast<ValueId>(id);
  }
}

template <typename Add>
std::vector<Contribution> ChunkValues::counted(ValueId value, Add plus) const {
  std::vector<Contribution> found;
  if (value == kNothing) return found;
  // A term is older than its sum, so the newest sum still to be opened has all its uses counted.
  std::map<ValueId, std::uint64_t, std::greater<>> open;
  const auto add = [&](ValueId term, std::uint64_t times) {
    if (is_origin(term)) {
      found.push_back({origin_of(term), times});
    } else {
      std::uint64_t& uses = open[term];
      uses = plus(uses, times);
    }
  };
  add(value, 1);
  while (!open.empty()) {
    const auto [id, times] = *open.begin();
    open.erase(open.begin());
    add(nodes_[id].a, times);
    add(nodes_[id].b, times);
  }
  std::sort(found.begin(), found.end(),
            [](const Contribution& x, const Contribution& y) { return x.origin < y.origin; });
  std::vector<Contribution> merged;
  for (const Contribution& c : found) {
    if (!merged.empty() && merged.back().origin == c.origin) {
      merged.back().times = plus(merged.back().times, c.times);
    } else {
      merged.push_back(c);
    }
  }
  return merged;
}

std::vector<Contribution> ChunkValues::contributions(ValueId value) const {
  return counted(value, saturating_add);
}

std::vector<Contribution> ChunkValues::contributions_modulo(ValueId value) const {
  return counted(value, std::plus<>());
}

}  // namespace hocket
