// Plain loops that the compiler vectorises. Elements are loaded and stored through memcpy: user
// buffers have any alignment and are not arrays of T to the language.
#include "runtime/reduce_kernels.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "runtime/half.h"

// Promises that iterations are independent: `out` is an operand exactly or not at all.
#if defined(__clang__)
#define HOCKET_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define HOCKET_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace hocket::runtime {
namespace {

// How an element is stored, and what it is computed in.
template <typename T>
struct Plain {
  using Stored = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};
struct Half {
  using Stored = std::uint16_t;
  static float load(std::uint16_t x) { return half_to_float(x); }
  static std::uint16_t store(float x) { return float_to_half(x); }
};
struct Bfloat {
  using Stored = std::uint16_t;
  static float load(std::uint16_t x) { return bfloat_to_float(x); }
  static std::uint16_t store(float x) { return float_to_bfloat(x); }
};

// Integers wrap around: signed overflow is avoided by computing unsigned, and that of narrow types,
// which promote to int, by computing in 32 bits at least.
template <typename T>
using Wide =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>, T>;

struct Sum {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct Prod {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
// A NaN on either side wins: `b` when nothing compares, unless `a` is the NaN.
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return ((a < b) | (a != a)) ? a : b;
    return a < b ? a : b;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return ((a > b) | (a != a)) ? a : b;
    return a > b ? a : b;
  }
};

template <typename Element, typename Op>
void reduce_loop(std::byte* out, const std::byte* a, const std::byte* b, std::int64_t n) {
  using Stored = typename Element::Stored;
  constexpr std::int64_t kSize = sizeof(Stored);
  HOCKET_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < n; ++i) {
    Stored x;
    Stored y;
    std::memcpy(&x, a + i * kSize, sizeof(Stored));
    std::memcpy(&y, b + i * kSize, sizeof(Stored));
    const Stored z = Element::store(Op::apply(Element::load(x), Element::load(y)));
    std::memcpy(out + i * kSize, &z, sizeof(Stored));
  }
}

template <typename Element>
constexpr std::array<ReduceKernel, 4> kernels_of() {
  return {&reduce_loop<Element, Sum>, &reduce_loop<Element, Prod>, &reduce_loop<Element, Min>,
          &reduce_loop<Element, Max>};
}

// In the order of DataType and ReduceOp.
constexpr std::array<std::array<ReduceKernel, 4>, 7> kKernels = {
    kernels_of<Plain<float>>(),
    kernels_of<Plain<double>>(),
    kernels_of<Plain<std::int32_t>>(),
    kernels_of<Plain<std::int64_t>>(),
    kernels_of<Plain<std::uint8_t>>(),
    kernels_of<Half>(),
    kernels_of<Bfloat>(),
};

}  // namespace

ReduceKernel reduce_kernel(DataType type, ReduceOp op) {
  return kKernels[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)];
}

}  // namespace hocket::runtime
