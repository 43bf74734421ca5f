// How a buffer of any number of elements is cut into chunks: the one place that knows the rule.
//
// A part of `count` elements is cut at floor(i * count / F), F the collective's chunk factor; chunk
// j of a buffer is chunk j % F of part j / F. With count = q * F + r, chunks have q or q + 1
// elements.
#pragma once

#include <cstdint>

#include "hocket/collective.h"

namespace hocket::runtime {

class Layout {
 public:
  // HK0702 for a negative count.
  Layout(const Collective& collective, std::int64_t count);

  std::int64_t count() const { return count_; }
  // Of the longest chunk, which is also that of every scratch chunk.
  std::int64_t chunk_elements() const { return whole_ + (rest_ > 0 ? 1 : 0); }
  // Whether some chunks are one element shorter than others.
  bool ragged() const { return rest_ > 0; }

  // Where a chunk starts; of a buffer's number of chunks: how many elements the buffer has. The
  // result must be known to fit (checked_elements).
  std::int64_t offset(std::int32_t chunk) const {
    const std::int64_t part = chunk / factor_;
    const std::int64_t i = chunk % factor_;
    return part * count_ + i * whole_ + i * rest_ / factor_;
  }
  std::int64_t length(std::int32_t chunk) const {
    const std::int64_t i = chunk % factor_;
    return whole_ + ((i + 1) * rest_ / factor_ - i * rest_ / factor_);
  }
  // offset(chunks), or HK0702 where 63 bits do not hold it.
  std::int64_t checked_elements(std::int32_t chunks) const;

 private:
  std::int64_t count_;
  std::int64_t factor_;
  std::int64_t whole_;  // count / factor
  std::int64_t rest_;   // count % factor
};

// a * b and a + b for sizes, HK0702 where 63 bits do not hold it.
std::int64_t checked_product(std::int64_t a, std::int64_t b);
std::int64_t checked_sum(std::int64_t a, std::int64_t b);

}  // namespace hocket::runtime
