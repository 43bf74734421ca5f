// float16 and bfloat16 against their definition, computed in double.
#include "runtime/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace hocket::runtime {
namespace {

// A small float as its definition reads: sign, exponent bits, mantissa bits.
double value_of(std::uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1.0 + fraction, exponent - bias);
}

// The nearest small float by search: of the two neighbours the nearer one, the even one on a tie.
// Finite values order as their magnitude bits do, and infinity stands one step past the largest.
std::uint16_t nearest(double value, int exponent_bits) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  const int mantissa_bits = 15 - exponent_bits;
  const int infinity = ((1 << exponent_bits) - 1) << mantissa_bits;
  const auto at = [&](int bits) {
    return bits == infinity ? std::ldexp(1.0, 1 << (exponent_bits - 1))
                            : value_of(static_cast<std::uint16_t>(bits), exponent_bits);
  };
  int low = 0;
  int high = infinity;  // at(low) <= magnitude, at(high) > magnitude or high is infinity
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (at(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - at(low);
  const double above = at(high) - magnitude;
  const int result = below < above ? low : above < below ? high : (low % 2 == 0 ? low : high);
  return static_cast<std::uint16_t>(result | sign);
}

struct Format {
  const char* name;
  int exponent_bits;
  float (*to_float)(std::uint16_t);
  std::uint16_t (*from_float)(float);
};
const Format kFormats[] = {{"float16", 5, half_to_float, float_to_half},
                           {"bfloat16", 8, bfloat_to_float, float_to_bfloat}};

TEST(Half, EveryValueWidensExactlyAndComesBack) {
  for (const Format& format : kFormats) {
    for (int i = 0; i <= 0xffff; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const float wide = format.to_float(bits);
      const double defined = value_of(bits, format.exponent_bits);
      if (std::isnan(defined)) {
        ASSERT_TRUE(std::isnan(wide)) << format.name << " " << i;
        ASSERT_TRUE(std::isnan(format.to_float(format.from_float(wide))))
            << format.name << " " << i;
      } else {
        ASSERT_EQ(static_cast<double>(wide), defined) << format.name << " " << i;
        ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0);
        ASSERT_EQ(format.from_float(wide), bits) << format.name;
      }
    }
  }
}

TEST(Half, NarrowingRoundsToNearestEven) {
  std::mt19937 random(1);
  for (const Format& format : kFormats) {
    const auto check = [&](float x) {
      if (std::isnan(x)) return;
      ASSERT_EQ(format.from_float(x), nearest(static_cast<double>(x), format.exponent_bits))
          << format.name << " " << x;
    };
    // Every value, every midpoint between neighbours, and the floats just beside them.
    for (int i = 0; i < 0x7fff; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const float a = format.to_float(bits);
      const float b = format.to_float(static_cast<std::uint16_t>(i + 1));
      if (!std::isfinite(a)) continue;
      const float middle = std::isfinite(b)
                               ? static_cast<float>((static_cast<double>(a) + b) / 2)
                               : static_cast<float>(a * (format.exponent_bits == 5 ? 1.0005 : 1.0));
      for (const float x : {a, middle, std::nextafter(middle, 0.0f),
                            std::nextafter(middle, std::numeric_limits<float>::max())}) {
        check(x);
        check(-x);
      }
    }
    for (int i = 0; i < 200000; ++i)
      check(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    check(65519.99f);
    check(65520.0f);
    check(1e30f);
    check(std::numeric_limits<float>::max());
    check(std::numeric_limits<float>::denorm_min());
    check(0.0f);
  }
}

}  // namespace
}  // namespace hocket::runtime
