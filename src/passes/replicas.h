// How a chunk is shared among instances: which parts the k-th copy of an operation works on.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/trace.h"

namespace hocket::passes {

// The parts of one copy of an operation.
struct Share {
  std::int32_t src_index = 0;
  std::int32_t dst_index = 0;
  std::int32_t count = 0;
  std::uint16_t instance = 0;
};

class Replicas {
 public:
  // Throws HK0303 where batched replication would not compute the trace's collective, HK0306 where
  // parts cannot be numbered.
  explicit Replicas(const Trace& trace);

  std::int32_t parts() const { return parts_; }
  std::uint32_t num_instances() const { return num_instances_; }
  int copies(const TraceOp& op) const { return instances_ * trace_.fragments[op.fragment]; }
  Share share(const TraceOp& op, int k) const;

 private:
  std::int32_t length(std::int32_t rank, std::uint32_t buffer) const;
  void check_batched() const;

  const Trace& trace_;
  std::int32_t instances_;
  std::int32_t parts_ = 1;  // of a chunk: instances * lcm of the fragments
  std::int32_t widest_fragment_ = 1;
  std::uint32_t num_instances_ = 1;                                 // instances * widest fragment
  std::unordered_map<std::uint64_t, std::int32_t> scratch_length_;  // chunks; batched only
};

}  // namespace hocket::passes
