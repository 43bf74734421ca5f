// Vector loops, compiled once for each instruction set that Highway knows and chosen when the
// program runs. All of them give the same bits: float16 and bfloat16 are converted in integer
// arithmetic, as half.h does it, and not by instructions that some processors have.
#include "runtime/reduce_kernels.h"

#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/reduce_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// (after foreach_target.h)
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hocket::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of T as they are stored. Elements are loaded and stored as bytes: user buffers have any
// alignment and are not arrays of T to the language.
template <typename T>
using Lanes = hn::ScalableTag<T>;

template <typename D>
hn::Vec<D> load(D d, const std::uint8_t* from) {
#if HWY_TARGET == HWY_SCALAR  // one lane, which is not bytes
  hn::TFromD<D> lane;
  std::memcpy(&lane, from, sizeof(lane));
  return hn::Set(d, lane);
#else
  return hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), from));
#endif
}

template <typename D>
void store(D /*d*/, hn::Vec<D> v, std::uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  const hn::TFromD<D> lane = hn::GetLane(v);
  std::memcpy(to, &lane, sizeof(lane));
#else
  const hn::Repartition<std::uint8_t, D> bytes;
  hn::StoreU(hn::BitCast(bytes, v), bytes, to);
#endif
}

// Integers wrap around. min and max give `a` where it is a NaN, else `b` where nothing compares.
struct Sum {
  template <typename D, typename V>
  static V apply(D /*d*/, V a, V b) {
    return hn::Add(a, b);
  }
};
struct Prod {
  template <typename D, typename V>
  static V apply([[maybe_unused]] D d, V a, V b) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(hn::TFromD<D>) == 1) {
      // Pairs of bytes as one number: the low byte of a product depends on low bytes only.
      const hn::Repartition<std::uint16_t, D> pairs;
      const auto x = hn::BitCast(pairs, a);
      const auto y = hn::BitCast(pairs, b);
      const auto low = hn::And(hn::Mul(x, y), hn::Set(pairs, 0xff));
      const auto high = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y)));
      return hn::BitCast(d, hn::Or(low, high));
    } else
#endif
    {
      return hn::Mul(a, b);
    }
  }
};
template <bool kMax>
struct Extreme {
  template <typename D, typename V>
  static V apply(D /*d*/, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const auto better = kMax ? hn::Gt(a, b) : hn::Lt(a, b);
      return hn::IfThenElse(hn::Or(better, hn::IsNaN(a)), a, b);
    } else {
      return kMax ? hn::Max(a, b) : hn::Min(a, b);
    }
  }
};

// What is stored is what is computed in.
template <typename T, typename Op>
struct Direct {
  using Stored = T;
  static hn::Vec<Lanes<T>> apply(hn::Vec<Lanes<T>> a, hn::Vec<Lanes<T>> b) {
    return Op::apply(Lanes<T>(), a, b);
  }
};

using Bits = Lanes<std::uint32_t>;
using BitsV = hn::Vec<Bits>;
using Real = Lanes<float>;
using RealV = hn::Vec<Real>;

// half.h explains the steps of both. Every number compared is below 2^31.
struct Half {
  static RealV load(BitsV h) {
    const Bits bits;
    const Real real;
    const auto number = [&](std::uint32_t x) { return hn::Set(bits, x); };
    const BitsV exponent_mask = number(0x7c00u << 13);
    const BitsV magnitude = hn::ShiftLeft<13>(hn::And(h, number(0x7fff)));
    const BitsV exponent = hn::And(magnitude, exponent_mask);
    const BitsV normal = hn::Add(magnitude, number((127u - 15u) << 23));
    const BitsV special = hn::Add(normal, number((128u - 16u) << 23));
    const BitsV one_more = hn::Add(normal, number(1u << 23));
    const BitsV subnormal = hn::BitCast(
        bits, hn::Sub(hn::BitCast(real, one_more), hn::BitCast(real, number(113u << 23))));
    const BitsV finite = hn::IfThenElse(hn::Eq(exponent, hn::Zero(bits)), subnormal, normal);
    const BitsV value = hn::IfThenElse(hn::Eq(exponent, exponent_mask), special, finite);
    return hn::BitCast(real, hn::Or(value, hn::ShiftLeft<16>(hn::And(h, number(0x8000)))));
  }
  static BitsV store(RealV value) {
    const Bits bits;
    const Real real;
    const auto number = [&](std::uint32_t x) { return hn::Set(bits, x); };
    const BitsV all = hn::BitCast(bits, value);
    const BitsV sign = hn::And(hn::ShiftRight<16>(all), number(0x8000));
    const BitsV x = hn::And(all, number(0x7fffffff));
    const BitsV odd = hn::And(hn::ShiftRight<13>(x), number(1));
    const BitsV rounding = hn::Sub(hn::Add(odd, number(0xfff)), number((127u - 15u) << 23));
    const BitsV normal = hn::ShiftRight<13>(hn::Add(x, rounding));
    const RealV half = hn::Set(real, 0.5f);
    const BitsV subnormal =
        hn::Sub(hn::BitCast(bits, hn::Add(hn::BitCast(real, x), half)), hn::BitCast(bits, half));
    const BitsV special = hn::IfThenElse(above(x, 0x7f800000), number(0x7e00), number(0x7c00));
    const BitsV small = hn::IfThenElse(above(x, (113 << 23) - 1), normal, subnormal);
    const BitsV result = hn::IfThenElse(above(x, (143 << 23) - 1), special, small);
    // Of a small number `normal` is nonsense with high bits, which was not chosen.
    return hn::Or(result, sign);
  }

 private:
  static hn::Mask<Bits> above(BitsV x, std::int32_t limit) {
    const hn::RebindToSigned<Bits> numbers;
    return hn::RebindMask(Bits(), hn::Gt(hn::BitCast(numbers, x), hn::Set(numbers, limit)));
  }
};

struct Bfloat {
  static RealV load(BitsV b) { return hn::BitCast(Real(), hn::ShiftLeft<16>(b)); }
  static BitsV store(RealV value) {
    const Bits bits;
    const auto number = [&](std::uint32_t x) { return hn::Set(bits, x); };
    const BitsV x = hn::BitCast(bits, value);
    const BitsV high = hn::ShiftRight<16>(x);
    const BitsV rounding = hn::Add(hn::And(high, number(1)), number(0x7fff));
    const BitsV rounded = hn::ShiftRight<16>(hn::Add(x, rounding));
    const hn::Mask<Bits> is_nan = hn::RebindMask(bits, hn::IsNaN(value));
    return hn::IfThenElse(is_nan, hn::Or(high, number(0x40)), rounded);
  }
};

// Two 16-bit elements to a 32-bit lane: computed in float32, each half of the lanes at a time, so
// that nothing moves between lanes.
template <typename Element, typename Op>
struct Narrow {
  using Stored = std::uint32_t;
  static BitsV apply(BitsV a, BitsV b) {
    const BitsV mask = hn::Set(Bits(), 0xffff);
    const BitsV low = one(hn::And(a, mask), hn::And(b, mask));
    const BitsV high = one(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b));
    return hn::Or(low, hn::ShiftLeft<16>(high));
  }

 private:
  static BitsV one(BitsV a, BitsV b) {
    return Element::store(Op::apply(Real(), Element::load(a), Element::load(b)));
  }
};

// What is left over goes through a vector of its own, so that there is one definition of a result.
template <typename Loop, std::size_t kElement>
void reduce_loop(std::byte* out, const std::byte* a, const std::byte* b, std::int64_t n) {
  const Lanes<typename Loop::Stored> d;
  const std::size_t step = hn::Lanes(d) * sizeof(typename Loop::Stored);
  const std::size_t bytes = static_cast<std::size_t>(n) * kElement;
  auto* to = reinterpret_cast<std::uint8_t*>(out);
  const auto* x = reinterpret_cast<const std::uint8_t*>(a);
  const auto* y = reinterpret_cast<const std::uint8_t*>(b);
  std::size_t i = 0;
  for (; i + step <= bytes; i += step) {
    store(d, Loop::apply(load(d, x + i), load(d, y + i)), to + i);
  }
  if (i == bytes) return;
  constexpr std::size_t kMost =
      hn::MaxLanes(Lanes<typename Loop::Stored>()) * sizeof(typename Loop::Stored);
  std::array<std::uint8_t, kMost> rest_x{};
  std::array<std::uint8_t, kMost> rest_y{};
  std::memcpy(rest_x.data(), x + i, bytes - i);
  std::memcpy(rest_y.data(), y + i, bytes - i);
  store(d, Loop::apply(load(d, rest_x.data()), load(d, rest_y.data())), rest_x.data());
  std::memcpy(to + i, rest_x.data(), bytes - i);
}

template <template <typename> class Loop, std::size_t kElement>
ReduceKernel kernel_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return &reduce_loop<Loop<Sum>, kElement>;
    case ReduceOp::prod:
      return &reduce_loop<Loop<Prod>, kElement>;
    case ReduceOp::min:
      return &reduce_loop<Loop<Extreme<false>>, kElement>;
    case ReduceOp::max:
      return &reduce_loop<Loop<Extreme<true>>, kElement>;
  }
  return nullptr;
}

template <typename Op>
using Float32 = Direct<float, Op>;
template <typename Op>
using Float64 = Direct<double, Op>;
template <typename Op>
using Int32 = Direct<std::int32_t, Op>;
template <typename Op>
using Int64 = Direct<std::int64_t, Op>;
template <typename Op>
using Uint8 = Direct<std::uint8_t, Op>;
template <typename Op>
using Float16 = Narrow<Half, Op>;
template <typename Op>
using Bfloat16 = Narrow<Bfloat, Op>;

ReduceKernel kernel(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::float32:
      return kernel_of<Float32, 4>(op);
    case DataType::float64:
      return kernel_of<Float64, 8>(op);
    case DataType::int32:
      return kernel_of<Int32, 4>(op);
    case DataType::int64:
      return kernel_of<Int64, 8>(op);
    case DataType::uint8:
      return kernel_of<Uint8, 1>(op);
    case DataType::float16:
      return kernel_of<Float16, 2>(op);
    case DataType::bfloat16:
      return kernel_of<Bfloat16, 2>(op);
  }
  return nullptr;
}

}  // namespace hocket::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hocket::runtime {

HWY_EXPORT(kernel);

ReduceKernel reduce_kernel(DataType type, ReduceOp op) {
  return HWY_DYNAMIC_DISPATCH(kernel)(type, op);
}

}  // namespace hocket::runtime
#endif
