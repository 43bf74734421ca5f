// What every pass must leave alone: the meaning of the program, and the dependences that protect
// it. For testing a compiler, not for compiling: slow and plain.
//
// A Meaning is made from the trace, by running its operations one after another on chunks cut into
// parts. check() runs an instruction graph, in the global order where it has one and in node order
// before, and says what is wrong with it, if anything:
// * every slot that the collective wants (all, where it does not say) ends with what the trace
//   leaves there;
// * a message is received after it is sent, and messages of one connection in the order in which
//   they were sent;
// * a read depends on the last write, and a write on the reads since the last write or, where there
//   are none, on that write.
// The last is what expand promises; no later pass may lose one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/chunk_values.h"
#include "ir/trace.h"
#include "passes/hash_key.h"
#include "passes/instruction_graph.h"

namespace hocket::passes {

class Meaning {
 public:
  // `parts`: of a chunk, as Graph::parts.
  Meaning(const Trace& trace, std::int32_t parts);

  // Empty where all is well; otherwise what is wrong, in one sentence. For graphs before
  // layout_scratch, which gives buffers new places.
  std::string check(const Graph& graph) const;
  // Whether the trace itself leaves everywhere what its collective wants.
  bool implements_collective() const;
  // What the trace leaves in a slot of the cut collective; none: nothing. A sum of
  // origin_fingerprint() of the cut origins.
  std::optional<Fingerprint> left(std::int32_t rank, Slot slot) const;

 private:
  // What a part holds: a multiset of origins, as its fingerprint. Absent: nothing.
  using Memory = std::unordered_map<HashKey, Fingerprint, HashKeyHash>;
  class Run;

  void fill_inputs();
  void run_trace();

  const Trace& trace_;
  std::int32_t parts_;
  Memory initial_;
  Memory final_;
};

}  // namespace hocket::passes
