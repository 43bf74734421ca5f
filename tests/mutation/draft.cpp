#include "mutation/draft.h"

namespace hocket::mutation {

Draft::Draft(const Algorithm& algorithm) : header(algorithm) {
  header.ranks.clear();
  header.steps.clear();
  header.step_locations.clear();
  header.locations.clear();
  for (const RankProgram& rank : algorithm.ranks) {
    DraftRank& r = ranks.emplace_back();
    r.sizes = rank;
    r.sizes.threadblocks.clear();
    for (const ThreadBlock& tb : rank.threadblocks) {
      const auto steps = algorithm.steps_of(tb);
      r.tbs.push_back({tb.send, tb.recv, tb.channel, {steps.begin(), steps.end()}});
    }
  }
}

Algorithm Draft::done() const {
  Algorithm a = header;
  for (const DraftRank& r : ranks) {
    RankProgram& rank = a.ranks.emplace_back(r.sizes);
    for (const DraftTb& tb : r.tbs) {
      rank.threadblocks.push_back({tb.send, tb.recv, tb.channel,
                                   static_cast<std::uint32_t>(a.steps.size()),
                                   static_cast<std::uint32_t>(tb.steps.size())});
      a.steps.insert(a.steps.end(), tb.steps.begin(), tb.steps.end());
    }
  }
  return a;
}

std::optional<StepAt> partner_of(const Draft& draft, StepAt at, bool of_send) {
  const DraftTb& tb = draft.ranks[at.rank].tbs[at.tb];
  const int peer = of_send ? tb.send : tb.recv;
  if (peer < 0 || peer >= static_cast<int>(draft.ranks.size())) return std::nullopt;
  const auto meets = [](const Step& s, bool send) {
    return send ? op_info(s.op).sends : op_info(s.op).receives;
  };
  std::size_t before = 0;
  for (std::size_t i = 0; i < at.step; ++i) before += meets(tb.steps[i], of_send) ? 1 : 0;
  const auto& others = draft.ranks[static_cast<std::size_t>(peer)].tbs;
  for (std::size_t t = 0; t < others.size(); ++t) {
    const DraftTb& other = others[t];
    if ((of_send ? other.recv : other.send) != static_cast<int>(at.rank) ||
        other.channel != tb.channel) {
      continue;
    }
    std::size_t found = 0;
    for (std::size_t i = 0; i < other.steps.size(); ++i) {
      if (!meets(other.steps[i], !of_send)) continue;
      if (found++ == before) return StepAt{static_cast<std::size_t>(peer), t, i};
    }
  }
  return std::nullopt;
}

void erase_step(Draft& draft, StepAt at) {
  DraftRank& rank = draft.ranks[at.rank];
  auto& steps = rank.tbs[at.tb].steps;
  const bool published = steps[at.step].has_dependent;
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at.step));
  const int last = static_cast<int>(steps.size()) - 1;
  bool named = false;
  for (DraftTb& tb : rank.tbs) {
    for (Step& s : tb.steps) {
      if (s.depend_tb != static_cast<int>(at.tb)) continue;
      named = named || s.depend_step == static_cast<int>(at.step);
      if (s.depend_step > static_cast<int>(at.step)) --s.depend_step;
      if (s.depend_step > last) s.depend_step = last;
      if (last < 0) s.depend_tb = s.depend_step = -1;
    }
  }
  if (named && published && last >= 0) {
    steps[std::min(at.step, static_cast<std::size_t>(last))].has_dependent = true;
  }
}

void insert_step(Draft& draft, StepAt at, const Step& step) {
  DraftRank& rank = draft.ranks[at.rank];
  for (DraftTb& tb : rank.tbs) {
    for (Step& s : tb.steps) {
      if (s.depend_tb == static_cast<int>(at.tb) && s.depend_step >= static_cast<int>(at.step)) {
        ++s.depend_step;
      }
    }
  }
  auto& steps = rank.tbs[at.tb].steps;
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at.step), step);
}

}  // namespace hocket::mutation
