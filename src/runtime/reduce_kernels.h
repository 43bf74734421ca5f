// The arithmetic of the runtime: one loop for every type and operator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hocket/runtime.h"

namespace hocket::runtime {

// out[i] = a[i] (+) b[i] for n elements of any alignment. `out` may be `a` or `b`; otherwise the
// ranges do not overlap.
using ReduceKernel = void (*)(std::byte* out, const std::byte* a, const std::byte* b,
                              std::int64_t n);

ReduceKernel reduce_kernel(DataType type, ReduceOp op);

}  // namespace hocket::runtime
