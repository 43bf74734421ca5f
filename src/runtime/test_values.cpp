// The values and their sums, in double and 64-bit integers: independent of the runtime's kernels.
#include "runtime/test_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/half.h"

namespace hocket::runtime {
namespace {

// The finaliser of splitmix64.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Uniform in [0, n), n at most 2^32.
std::int64_t below(std::uint64_t random, std::int64_t n) {
  return static_cast<std::int64_t>(((random >> 32) * static_cast<std::uint64_t>(n)) >> 32);
}

// Integers up to this are exact, and so are powers of two up to this exponent.
struct Range {
  std::int64_t integer;
  std::int64_t exponent;
};
Range range_of(DataType type) {
  switch (type) {
    case DataType::float64:
      return {std::int64_t{1} << 53, 1000};
    case DataType::float16:
      return {1 << 11, 14};
    case DataType::bfloat16:
      return {1 << 8, 120};
    default:
      return {1 << 24, 120};
  }
}

constexpr std::int64_t kMaxValue = std::int64_t{1} << 31;
constexpr std::int64_t kMaxExponent = 6;

template <typename T>
void store(std::byte* to, std::int64_t i, T value) {
  std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

double combine(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::sum:
      return a + b;
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
  }
  return a;
}

// Words hold sign-extended values, so that one signed comparison serves all types.
std::uint64_t combine(ReduceOp op, std::uint64_t a, std::uint64_t b) {
  const auto signed_a = static_cast<std::int64_t>(a);
  const auto signed_b = static_cast<std::int64_t>(b);
  switch (op) {
    case ReduceOp::sum:
      return a + b;
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::min:
      return signed_a < signed_b ? a : b;
    case ReduceOp::max:
      return signed_a > signed_b ? a : b;
  }
  return a;
}

}  // namespace

TestValues::TestValues(DataType type, ReduceOp op, std::int64_t contributions, std::uint64_t seed)
    : type_(type),
      op_(op),
      is_real_(type == DataType::float32 || type == DataType::float64 ||
               type == DataType::float16 || type == DataType::bfloat16),
      seed_(seed) {
  contributions = std::max<std::int64_t>(contributions, 1);
  const Range range = range_of(type);
  if (op == ReduceOp::min || op == ReduceOp::max) {
    largest_ = std::min(range.integer, kMaxValue);
  } else {
    const std::int64_t all = op == ReduceOp::sum ? range.integer : range.exponent;
    largest_ = std::min(all / contributions, op == ReduceOp::sum ? kMaxValue : kMaxExponent);
    if (largest_ == 0) {
      largest_ = 1;
      one_in_ = (contributions + all - 2) / (all - 1);
    }
  }
  set_repeat(0);
}

void TestValues::set_repeat(int repeat) {
  repeat_key_ = mix(mix(seed_) + static_cast<std::uint64_t>(repeat));
}

std::uint64_t TestValues::key(Origin origin) const {
  return mix(mix(repeat_key_ + static_cast<std::uint64_t>(origin.rank)) +
             static_cast<std::uint64_t>(origin.index));
}

bool TestValues::speaks(Origin origin, std::int64_t element) const {
  if (one_in_ == 1) return true;
  const std::uint64_t turn = mix(repeat_key_ ^ static_cast<std::uint64_t>(element));
  return (static_cast<std::uint64_t>(origin.rank) + turn) % static_cast<std::uint64_t>(one_in_) ==
         0;
}

double TestValues::real(Origin origin, std::uint64_t key, std::int64_t element) const {
  const std::uint64_t random = mix(key + static_cast<std::uint64_t>(element));
  switch (op_) {
    case ReduceOp::sum:
      if (!speaks(origin, element)) return 0;
      // From 1, so that a missing contribution shows; 0 or 1 where only so little fits.
      return static_cast<double>(largest_ > 1 ? 1 + below(random, largest_) : below(random, 2));
    case ReduceOp::prod: {
      const std::int64_t exponent =
          speaks(origin, element) ? below(random, largest_ + 1) : std::int64_t{0};
      return std::ldexp((random & 1) != 0 ? -1.0 : 1.0, static_cast<int>(exponent));
    }
    default:
      return static_cast<double>(below(random, 2 * largest_) - largest_);
  }
}

std::uint64_t TestValues::bits(std::uint64_t key, std::int64_t element) const {
  std::uint64_t random = mix(key + static_cast<std::uint64_t>(element));
  if (op_ == ReduceOp::prod) random |= 1;
  switch (type_) {
    case DataType::uint8:
      return random & 0xff;
    case DataType::int32:
      return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(random)});
    default:
      return random;
  }
}

void TestValues::store_real(std::byte* to, std::int64_t i, double value) const {
  switch (type_) {
    case DataType::float64:
      return store(to, i, value);
    case DataType::float16:
      return store(to, i, float_to_half(static_cast<float>(value)));
    case DataType::bfloat16:
      return store(to, i, float_to_bfloat(static_cast<float>(value)));
    default:
      return store(to, i, static_cast<float>(value));
  }
}

void TestValues::store_bits(std::byte* to, std::int64_t i, std::uint64_t value) const {
  switch (type_) {
    case DataType::uint8:
      return store(to, i, static_cast<std::uint8_t>(value));
    case DataType::int32:
      return store(to, i, static_cast<std::uint32_t>(value));
    default:
      return store(to, i, value);
  }
}

void TestValues::origin(std::byte* to, Origin origin, std::int64_t n) const {
  const std::uint64_t k = key(origin);
  if (is_real_) {
    for (std::int64_t i = 0; i < n; ++i) store_real(to, i, real(origin, k, i));
  } else {
    for (std::int64_t i = 0; i < n; ++i) store_bits(to, i, bits(k, i));
  }
}

void TestValues::expected(std::byte* to, std::span<const Part> parts, std::int64_t n) {
  if (is_real_) {
    expected_real(to, parts, n);
  } else {
    expected_bits(to, parts, n);
  }
}

void TestValues::expected_real(std::byte* to, std::span<const Part> parts, std::int64_t n) {
  reals_.resize(static_cast<std::size_t>(n));
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::uint64_t k = key(parts[p].origin);
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = i < parts[p].elements ? real(parts[p].origin, k, i) : 0.0;
      double& result = reals_[static_cast<std::size_t>(i)];
      result = p == 0 ? value : combine(op_, result, value);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) store_real(to, i, reals_[static_cast<std::size_t>(i)]);
}

void TestValues::expected_bits(std::byte* to, std::span<const Part> parts, std::int64_t n) {
  words_.resize(static_cast<std::size_t>(n));
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::uint64_t k = key(parts[p].origin);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t value = i < parts[p].elements ? bits(k, i) : 0;
      std::uint64_t& result = words_[static_cast<std::size_t>(i)];
      result = p == 0 ? value : combine(op_, result, value);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) store_bits(to, i, words_[static_cast<std::size_t>(i)]);
}

std::string TestValues::text(const std::byte* element) const {
  switch (type_) {
    case DataType::float32:
      return fmt::format("{}", load<float>(element));
    case DataType::float64:
      return fmt::format("{}", load<double>(element));
    case DataType::int32:
      return fmt::format("{}", load<std::int32_t>(element));
    case DataType::int64:
      return fmt::format("{}", load<std::int64_t>(element));
    case DataType::uint8:
      return fmt::format("{}", load<std::uint8_t>(element));
    case DataType::float16:
      return fmt::format("{}", half_to_float(load<std::uint16_t>(element)));
    case DataType::bfloat16:
      return fmt::format("{}", bfloat_to_float(load<std::uint16_t>(element)));
  }
  return "?";
}

}  // namespace hocket::runtime
