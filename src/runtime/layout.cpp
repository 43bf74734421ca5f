// Sizes of buffers, with every product checked.
#include "runtime/layout.h"

#include <fmt/format.h>

#include "hocket/runtime.h"

namespace hocket {
namespace runtime {

Layout::Layout(const Collective& collective, std::int64_t count)
    : count_(count),
      factor_(collective.chunk_factor()),
      whole_(count / factor_),
      rest_(count % factor_) {
  if (count < 0) {
    throw Error(Code::BadBuffers, fmt::format("a count of {} elements, expected 0 or more", count));
  }
}

namespace {

[[noreturn]] void refuse_size(std::int64_t a, std::string_view verb, std::int64_t b) {
  throw Error(Code::BadBuffers,
              fmt::format("{} {} {} elements or bytes, expected a size that fits into 63 bits", a,
                          verb, b));
}

}  // namespace

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) refuse_size(a, "times", b);
  return product;
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) refuse_size(a, "plus", b);
  return sum;
}

std::int64_t Layout::checked_elements(std::int32_t chunks) const {
  const std::int64_t whole_parts = checked_product(chunks / factor_, count_);
  checked_sum(whole_parts, chunks % factor_ > 0 ? count_ : 0);
  return offset(chunks);
}

}  // namespace runtime

std::int64_t input_elements(const Collective& collective, int rank, std::int64_t count) {
  return runtime::Layout(collective, count).checked_elements(collective.input_chunks(rank));
}

std::int64_t output_elements(const Collective& collective, int rank, std::int64_t count) {
  return runtime::Layout(collective, count).checked_elements(collective.output_chunks(rank));
}

}  // namespace hocket
