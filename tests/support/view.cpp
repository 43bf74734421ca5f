#include "support/view.h"

namespace hocket::oracle {

Slot View::canonical(int rank, BufferKind buffer, int index) const {
  const Slot slot{buffer, index};
  if (!aliased || buffer == BufferKind::scratch) return slot;
  return algorithm->collective.alias(rank, slot);
}

std::vector<TbRef> View::threadblocks() const {
  std::vector<TbRef> all;
  for (std::size_t r = 0; r < instructions.size(); ++r) {
    for (std::size_t t = 0; t < instructions[r].size(); ++t) {
      all.push_back({static_cast<int>(r), static_cast<int>(t)});
    }
  }
  return all;
}

View view_of(const Algorithm& algorithm, bool aliased) {
  View view;
  view.algorithm = &algorithm;
  view.aliased = aliased;
  for (const RankProgram& rank : algorithm.ranks) {
    auto& tbs = view.instructions.emplace_back();
    for (const ThreadBlock& tb : rank.threadblocks) {
      auto& list = tbs.emplace_back();
      std::vector<Wait> pending;
      int position = 0;
      for (const Step& step : algorithm.steps_of(tb)) {
        if (step.depend_tb >= 0) pending.push_back({step.depend_tb, step.depend_step});
        if (step.op != OpCode::nop) {
          list.push_back({position, step, pending});
          pending.clear();
        }
        ++position;
      }
    }
  }
  return view;
}

ConnectionKey out_of(const View& view, TbRef at) {
  return {at.rank, view.tb(at).send, view.tb(at).channel};
}

ConnectionKey into(const View& view, TbRef at) {
  return {view.tb(at).recv, at.rank, view.tb(at).channel};
}

}  // namespace hocket::oracle
