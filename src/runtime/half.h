// float16 and bfloat16 as bits, converted in integer arithmetic, so that every compiler and
// processor gives the same bits. Branch-free: loops over these vectorise. Rounding is to nearest,
// ties to even; a NaN stays a NaN, its payload does not.
#pragma once

#include <bit>
#include <cstdint>

namespace hocket::runtime {

// `yes` or `no` by a mask: GCC turns a conditional expression into a branch around the
// floating-point arithmetic that feeds it, and then vectorises nothing.
inline std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

inline float half_to_float(std::uint16_t h) {
  constexpr std::uint32_t kExponent = 0x7c00u << 13;
  const std::uint32_t magnitude = (h & 0x7fffu) << 13;
  const std::uint32_t exponent = magnitude & kExponent;
  const std::uint32_t normal = magnitude + ((127u - 15u) << 23);
  // Infinity and NaN have all exponent bits in either type.
  const std::uint32_t special = normal + ((128u - 16u) << 23);
  // A subnormal half has no implicit bit: read it with one and subtract it.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(
      std::bit_cast<float>(normal + (1u << 23)) - std::bit_cast<float>(113u << 23));
  const std::uint32_t bits =
      select(exponent == 0, subnormal, select(exponent == kExponent, special, normal));
  return std::bit_cast<float>(bits | ((h & 0x8000u) << 16));
}

inline std::uint16_t float_to_half(float value) {
  const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (all >> 16) & 0x8000u;
  const std::uint32_t bits = all & 0x7fffffffu;
  // Normal: move the exponent and round; a carry out of the mantissa is the next exponent, and out
  // of the largest number it is infinity.
  const std::uint32_t odd = (bits >> 13) & 1u;
  const std::uint32_t normal = (bits - ((127u - 15u) << 23) + 0xfffu + odd) >> 13;
  // Below the smallest normal: adding 0.5 leaves the mantissa where a subnormal's belongs, rounded
  // by the addition itself.
  const std::uint32_t half = std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0.5f) - half;
  const std::uint32_t special = select(bits > 0x7f800000u, 0x7e00u, 0x7c00u);
  const std::uint32_t result =
      select(bits >= (143u << 23), special, select(bits < (113u << 23), subnormal, normal));
  return static_cast<std::uint16_t>(result | sign);
}

inline float bfloat_to_float(std::uint16_t b) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

inline std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t nan = (bits >> 16) | 0x0040u;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

}  // namespace hocket::runtime
