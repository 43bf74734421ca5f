// Every kernel, on every instruction set that this processor has, against scalar arithmetic in a
// wider type.
#include "runtime/reduce_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "runtime/half.h"

namespace hocket::runtime {
namespace {

// What the kernels were compiled for and this processor can run.
std::vector<std::int64_t> instruction_sets() { return hwy::SupportedAndGeneratedTargets(); }

// The kernels of one instruction set only, for as long as it lives.
class Forced {
 public:
  explicit Forced(std::int64_t target) { choose(target); }
  ~Forced() { choose(0); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

class ReduceKernels : public testing::TestWithParam<std::int64_t> {
 protected:
  Forced forced_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(On, ReduceKernels, testing::ValuesIn(instruction_sets()),
                         [](const auto& set) { return hwy::TargetName(set.param); });

template <typename T>
std::vector<T> apply(DataType type, ReduceOp op, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> out(a.size());
  reduce_kernel(type, op)(
      reinterpret_cast<std::byte*>(out.data()), reinterpret_cast<const std::byte*>(a.data()),
      reinterpret_cast<const std::byte*>(b.data()), static_cast<std::int64_t>(a.size()));
  return out;
}

// Integers modulo 2^bits: computed in 64 bits without sign and cut.
template <typename T>
T defined(ReduceOp op, T a, T b) {
  const auto wide_a = static_cast<std::uint64_t>(a);
  const auto wide_b = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceOp::sum:
      return static_cast<T>(wide_a + wide_b);
    case ReduceOp::prod:
      return static_cast<T>(wide_a * wide_b);
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
  }
  return a;
}

double defined_real(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::sum:
      return a + b;
    case ReduceOp::prod:
      return a * b;
    default:
      break;
  }
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return op == ReduceOp::min ? std::min(a, b) : std::max(a, b);
}

template <typename T>
void check_integers(DataType type) {
  std::mt19937_64 random(7);
  for (const ReduceOp op : all_reduce_ops()) {
    for (const std::size_t n : {0u, 1u, 2u, 15u, 16u, 17u, 100u, 1001u}) {
      std::vector<T> a(n);
      std::vector<T> b(n);
      for (std::size_t i = 0; i < n; ++i) {
        a[i] = static_cast<T>(random());
        b[i] = i % 5 == 0 ? a[i] : static_cast<T>(random());
      }
      if (n > 2) {
        a[0] = std::numeric_limits<T>::max();
        b[0] = std::numeric_limits<T>::max();
        a[1] = std::numeric_limits<T>::min();
        b[1] = static_cast<T>(-1);
      }
      const auto out = apply(type, op, a, b);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(out[i], defined(op, a[i], b[i]))
            << data_type_name(type) << " " << reduce_op_name(op) << " element " << i;
      }
    }
  }
}

TEST_P(ReduceKernels, IntegersWrapAround) {
  check_integers<std::int32_t>(DataType::int32);
  check_integers<std::int64_t>(DataType::int64);
  check_integers<std::uint8_t>(DataType::uint8);
}

const float kSpecial[] = {0.0f,
                          1.0f,
                          -1.0f,
                          0.5f,
                          3.0f,
                          65504.0f,
                          -1e-7f,
                          1e30f,
                          1e-40f,
                          -7.25f,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};

template <typename T>
void check_reals(DataType type, T (*from)(double), double (*to)(T)) {
  std::vector<T> a;
  std::vector<T> b;
  for (const float x : kSpecial) {
    for (const float y : kSpecial) {
      a.push_back(from(static_cast<double>(x)));
      b.push_back(from(static_cast<double>(y)));
    }
  }
  std::mt19937 random(3);
  std::normal_distribution<double> normal(0, 100);
  for (int i = 0; i < 2000; ++i) {
    a.push_back(from(normal(random)));
    b.push_back(from(normal(random)));
  }
  for (const ReduceOp op : all_reduce_ops()) {
    const auto out = apply(type, op, a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      // Rounding a double result once is what rounding through float32 gives too: 24 bits are more
      // than twice 11 and 8 bits plus two.
      const double expected = to(from(defined_real(op, to(a[i]), to(b[i]))));
      const double found = to(out[i]);
      const std::string what = std::string(data_type_name(type)) + " " +
                               std::string(reduce_op_name(op)) + " of " + std::to_string(to(a[i])) +
                               " and " + std::to_string(to(b[i]));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(found)) << what;
      } else {
        ASSERT_EQ(found, expected) << what;
      }
    }
  }
}

TEST_P(ReduceKernels, RealsRoundOnceAndKeepNaN) {
  check_reals<float>(
      DataType::float32, [](double x) { return static_cast<float>(x); },
      [](float x) { return static_cast<double>(x); });
  check_reals<double>(
      DataType::float64, [](double x) { return x; }, [](double x) { return x; });
  check_reals<std::uint16_t>(
      DataType::float16, [](double x) { return float_to_half(static_cast<float>(x)); },
      [](std::uint16_t x) { return static_cast<double>(half_to_float(x)); });
  check_reals<std::uint16_t>(
      DataType::bfloat16, [](double x) { return float_to_bfloat(static_cast<float>(x)); },
      [](std::uint16_t x) { return static_cast<double>(bfloat_to_float(x)); });
}

TEST_P(ReduceKernels, TheResultMayReplaceEitherOperandAndHaveAnyAlignment) {
  for (const DataType type : all_data_types()) {
    const std::size_t size = data_type_size(type);
    for (const ReduceOp op : all_reduce_ops()) {
      for (std::size_t shift = 0; shift < size; ++shift) {
        const std::size_t n = 333;
        std::vector<std::byte> a(n * size + shift);
        std::vector<std::byte> b(n * size + shift);
        std::mt19937 random(5);
        for (auto& x : a) x = static_cast<std::byte>(random() & 0x3f);
        for (auto& x : b) x = static_cast<std::byte>(random() & 0x3f);
        std::vector<std::byte> separate(n * size);
        const auto kernel = reduce_kernel(type, op);
        const auto count = static_cast<std::int64_t>(n);
        kernel(separate.data(), a.data() + shift, b.data() + shift, count);
        auto into_a = a;
        kernel(into_a.data() + shift, into_a.data() + shift, b.data() + shift, count);
        auto into_b = b;
        kernel(into_b.data() + shift, a.data() + shift, into_b.data() + shift, count);
        ASSERT_EQ(std::memcmp(into_a.data() + shift, separate.data(), n * size), 0);
        ASSERT_EQ(std::memcmp(into_b.data() + shift, separate.data(), n * size), 0);
      }
    }
  }
}

// Bits of a 16-bit type, NaNs all alike: a NaN stays one, its payload need not.
std::uint16_t canonical(std::uint16_t x, std::uint16_t infinity) {
  return (x & 0x7fff) > infinity ? 0x7fff : x;
}

// Every bit pattern of either 16-bit type against several partners, through half.h one at a time.
TEST_P(ReduceKernels, SixteenBitRealsAreThoseOfOneAtATime) {
  struct Row {
    DataType type;
    float (*load)(std::uint16_t);
    std::uint16_t (*store)(float);
    std::uint16_t infinity;
  };
  const Row rows[] = {{DataType::float16, half_to_float, float_to_half, 0x7c00},
                      {DataType::bfloat16, bfloat_to_float, float_to_bfloat, 0x7f80}};
  std::mt19937 random(11);
  for (const Row& row : rows) {
    for (const ReduceOp op : all_reduce_ops()) {
      for (int round = 0; round < 8; ++round) {
        std::vector<std::uint16_t> a(65536);
        std::vector<std::uint16_t> b(65536);
        for (std::size_t i = 0; i < a.size(); ++i) {
          a[i] = static_cast<std::uint16_t>(i);
          // 1 and 0 show the conversions alone; others of like size show the rounding.
          b[i] = round == 0   ? row.store(op == ReduceOp::prod ? 1.0f : 0.0f)
                 : round == 1 ? static_cast<std::uint16_t>(i ^ (random() & 0x83ff))
                              : static_cast<std::uint16_t>(random());
        }
        const auto out = apply(row.type, op, a, b);
        for (std::size_t i = 0; i < a.size(); ++i) {
          const float x = row.load(a[i]);
          const float y = row.load(b[i]);
          float z = 0;
          switch (op) {
            case ReduceOp::sum:
              z = x + y;
              break;
            case ReduceOp::prod:
              z = x * y;
              break;
            case ReduceOp::min:
              z = x < y || x != x ? x : y;
              break;
            case ReduceOp::max:
              z = x > y || x != x ? x : y;
              break;
          }
          ASSERT_EQ(canonical(out[i], row.infinity), canonical(row.store(z), row.infinity))
              << data_type_name(row.type) << " " << reduce_op_name(op) << " of bits " << a[i]
              << " and " << b[i];
        }
      }
    }
  }
}

// Every length up to a few vectors, and nothing beyond it is touched.
TEST_P(ReduceKernels, AnyLengthAndNotAByteMore) {
  for (const DataType type : all_data_types()) {
    const std::size_t size = data_type_size(type);
    for (const ReduceOp op : all_reduce_ops()) {
      const std::size_t most = 300 / size;
      std::vector<std::byte> a(most * size);
      std::vector<std::byte> b(most * size);
      for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<std::byte>(i * 7 & 0x3f);
        b[i] = static_cast<std::byte>(i * 5 & 0x3f);
      }
      std::vector<std::byte> whole(a.size());
      const auto kernel = reduce_kernel(type, op);
      for (std::size_t i = 0; i < most; ++i) {
        kernel(&whole[i * size], &a[i * size], &b[i * size], 1);
      }
      for (std::size_t n = 0; n < most; ++n) {
        std::vector<std::byte> out(a.size(), std::byte{0xa5});
        kernel(out.data(), a.data(), b.data(), static_cast<std::int64_t>(n));
        const auto end = static_cast<std::ptrdiff_t>(n * size);
        ASSERT_TRUE(std::equal(out.begin(), out.begin() + end, whole.begin()))
            << data_type_name(type) << " " << reduce_op_name(op) << " " << n;
        ASSERT_TRUE(std::all_of(out.begin() + end, out.end(),
                                [](std::byte x) { return x == std::byte{0xa5}; }));
      }
    }
  }
}

TEST(DataTypes, NamesAreInverse) {
  for (const DataType type : all_data_types()) {
    EXPECT_EQ(data_type_from_name(data_type_name(type)), type);
  }
  for (const ReduceOp op : all_reduce_ops()) EXPECT_EQ(reduce_op_from_name(reduce_op_name(op)), op);
  EXPECT_FALSE(data_type_from_name("float"));
  EXPECT_FALSE(reduce_op_from_name("avg"));
  EXPECT_EQ(all_data_types().size(), 7u);
  EXPECT_EQ(all_reduce_ops().size(), 4u);
  EXPECT_EQ(data_type_size(DataType::bfloat16), 2u);
}

}  // namespace
}  // namespace hocket::runtime
