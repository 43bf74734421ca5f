// A 128-bit key for the small tables of the passes. Tables are only ever looked up, never walked,
// so that no output depends on a hash.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::passes {

struct HashKey {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  friend bool operator==(const HashKey&, const HashKey&) = default;
};

struct HashKeyHash {
  std::size_t operator()(const HashKey& k) const {
    std::uint64_t x = k.a * 0x9e3779b97f4a7c15u ^ (k.b + 0x7f4a7c15u) * 0xc2b2ae3d27d4eb4fu;
    x ^= x >> 29;
    return static_cast<std::size_t>(x * 0xbf58476d1ce4e5b9u);
  }
};

inline std::uint64_t pack(std::int32_t high, std::int32_t low) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32) |
         static_cast<std::uint32_t>(low);
}

}  // namespace hocket::passes
