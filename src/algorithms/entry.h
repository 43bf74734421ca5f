// What an algorithm of the library says of itself, and the arguments it is built from.
//
// Shared vocabulary of the files here. n: ranks; c: chunk_factor; S: bytes of a rank's larger
// buffer; alpha: seconds a message costs however short; beta: seconds a byte. A cost is that of the
// slowest rank, with every link and every direction free for it alone.
//
// An out-of-place program never writes an input: callers pass it const.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/algorithms.h"

namespace hocket::algorithms {

// The arguments of one make_algorithm() call, every parameter of the algorithm present. Whatever is
// unusable is Error HK0802 at the caller's line.
class Arguments {
 public:
  // Refuses names that `known` does not have.
  Arguments(std::string algorithm, const std::vector<ParameterInfo>& known, const Parameters& given,
            CallSite at);

  const std::string& algorithm() const { return algorithm_; }
  CallSite at() const { return at_; }

  // A whole number of [low, high].
  int integer(std::string_view name, int low = 1, int high = std::numeric_limits<int>::max()) const;
  bool flag(std::string_view name) const;  // true, false, 1, 0, yes, no, on, off
  const std::string& text(std::string_view name) const;

  int ranks() const;      // of "ranks"
  int root(int n) const;  // of "root", below n
  // The channel of the i-th stream of a program with a "channels" parameter: round robin, or the
  // compiler's choice when channels is 0.
  Via stream(std::int64_t i) const;
  // protocol, instances, replication, fuse: what every algorithm takes.
  ProgramOptions options() const;

  // Refuses to trace more operations, or chunks in all buffers, than fit an ordinary machine.
  void limit_size(double operations, double chunks) const;
  [[noreturn]] void refuse(std::string message, std::string hint = "") const;

 private:
  std::string algorithm_;
  Parameters values_;
  CallSite at_;
};

struct Entry {
  std::string collective;
  std::string about;
  std::string ranks_rule;
  std::vector<ParameterInfo> parameters;  // its own; those of options() are added by the registry
  Program (*trace)(const Arguments&);
};

// Parameters that many algorithms share.
inline ParameterInfo ranks_parameter() { return {"ranks", "number of ranks", "8"}; }
inline ParameterInfo nodes_parameter(const char* n) { return {"nodes", "number of nodes", n}; }
inline ParameterInfo gpus_parameter() { return {"gpus", "ranks of a node", "8"}; }
inline ParameterInfo chunk_factor_parameter() {
  return {"chunk_factor", "pieces that each chunk of the algorithm is cut into", "1"};
}
inline ParameterInfo in_place_parameter() {
  return {"in_place", "input and output are one memory", "false"};
}
inline ParameterInfo channels_parameter(const char* n) {
  return {"channels", "spread the chunks over this many channels; 0: the compiler chooses", n};
}
inline ParameterInfo root_parameter() { return {"root", "the rank that has or gets it all", "0"}; }

// Where a sum grows on `rank`: in place in the input itself; otherwise in a copy of the input in
// `to`, the output or a scratch buffer, so that the input stays as it was.
inline Ref summand(Program& p, int rank, int index, int size, const Buffer& to, int to_index) {
  Ref mine = p.chunk(rank, Buffer::input, index, size);
  return p.collective().in_place() ? mine : mine.copy(rank, to, to_index);
}

#define HOCKET_ALGORITHM(file, name) Entry name();
#include "algorithms/algorithms.def"
#undef HOCKET_ALGORITHM

}  // namespace hocket::algorithms
