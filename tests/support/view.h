// An algorithm as the loaders see it, for the oracles: real steps with all the waits collected from
// the nops before them, and canonical names of slots.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "hocket/algorithm.h"

namespace hocket::oracle {

struct Wait {
  int tb = -1;
  int step = -1;
};

// A step that does something.
struct Instruction {
  int step = 0;  // its position in the threadblock, nops counted
  Step what;
  std::vector<Wait> waits;
};

struct TbRef {
  int rank = -1;
  int tb = -1;
  friend auto operator<=>(const TbRef&, const TbRef&) = default;
};

struct ConnectionKey {
  int src = 0;
  int dst = 0;
  int channel = 0;
  friend auto operator<=>(const ConnectionKey&, const ConnectionKey&) = default;
};

struct View {
  const Algorithm* algorithm = nullptr;
  bool aliased = false;  // the call is in place: names alias as the collective says
  std::vector<std::vector<std::vector<Instruction>>> instructions;  // [rank][tb]

  const ThreadBlock& tb(TbRef at) const {
    return algorithm->ranks[static_cast<std::size_t>(at.rank)]
        .threadblocks[static_cast<std::size_t>(at.tb)];
  }
  const std::vector<Instruction>& of(TbRef at) const {
    return instructions[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.tb)];
  }
  // The one name of a slot of a rank.
  Slot canonical(int rank, BufferKind buffer, int index) const;
  std::vector<TbRef> threadblocks() const;
};

View view_of(const Algorithm& algorithm, bool aliased);

inline bool sends(const Step& s) { return op_info(s.op).sends; }
inline bool receives(const Step& s) { return op_info(s.op).receives; }

// The connection a threadblock sends on / receives from; only where it has that peer.
ConnectionKey out_of(const View& view, TbRef at);
ConnectionKey into(const View& view, TbRef at);

}  // namespace hocket::oracle
