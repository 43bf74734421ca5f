// Inputs that show mistakes, and the results that they must give.
//
// An element of an origin is a function of (seed, repeat, rank, chunk index, element), never of
// where it lies, so data in the wrong place differs from what belongs there. Values are chosen for
// the type and operator such that every partial result is exact: no order of the reductions changes
// a bit, and results compare exactly.
//   sum   floating point: integers from 1, small enough that the sum of all contributions is exact;
//         integers: any bits, sums wrap
//   prod  floating point: plus or minus powers of two whose product does not overflow;
//         integers: odd numbers, which no product wraps to zero
//   min, max   integers that the type holds exactly
// Where a type is too narrow for so many contributions (256 of bfloat16), most contribute the
// neutral element, a different few for every element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hocket/collective.h"
#include "hocket/runtime.h"

namespace hocket::runtime {

class TestValues {
 public:
  // `contributions` is the most origins that one result combines.
  TestValues(DataType type, ReduceOp op, std::int64_t contributions, std::uint64_t seed);

  void set_repeat(int repeat);

  // The n elements of an origin's chunk.
  void origin(std::byte* to, Origin origin, std::int64_t n) const;

  // A contribution to a result: an origin, and how many elements it has. Further ones count as
  // zero.
  struct Part {
    Origin origin;
    std::int64_t elements;
  };
  // The n elements that the parts give together.
  void expected(std::byte* to, std::span<const Part> parts, std::int64_t n);

  // An element as text.
  std::string text(const std::byte* element) const;

 private:
  std::uint64_t key(Origin origin) const;
  bool speaks(Origin origin, std::int64_t element) const;
  double real(Origin origin, std::uint64_t key, std::int64_t element) const;
  std::uint64_t bits(std::uint64_t key, std::int64_t element) const;
  void store_real(std::byte* to, std::int64_t i, double value) const;
  void store_bits(std::byte* to, std::int64_t i, std::uint64_t value) const;
  void expected_real(std::byte* to, std::span<const Part> parts, std::int64_t n);
  void expected_bits(std::byte* to, std::span<const Part> parts, std::int64_t n);

  DataType type_;
  ReduceOp op_;
  bool is_real_;
  std::uint64_t seed_;
  std::uint64_t repeat_key_ = 0;
  std::int64_t largest_ = 0;  // value (sum, min, max) or exponent (prod) of one contribution
  std::int64_t one_in_ = 1;   // of so many ranks in a row, one contributes
  std::vector<double> reals_;
  std::vector<std::uint64_t> words_;
};

}  // namespace hocket::runtime
