// An algorithm as lists that can be edited: threadblocks own their steps.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hocket/algorithm.h"

namespace hocket::mutation {

struct DraftTb {
  int send = -1;
  int recv = -1;
  int channel = 0;
  std::vector<Step> steps;
};

struct DraftRank {
  RankProgram sizes;  // its chunk counts; no threadblocks
  std::vector<DraftTb> tbs;
};

struct Draft {
  Algorithm header;  // without ranks and steps
  std::vector<DraftRank> ranks;

  explicit Draft(const Algorithm& algorithm);
  Algorithm done() const;
};

struct StepAt {
  std::size_t rank = 0;
  std::size_t tb = 0;
  std::size_t step = 0;
};

// The receive that a send meets, or the send that a receive meets, where the k-th meets the k-th.
std::optional<StepAt> partner_of(const Draft& draft, StepAt at, bool of_send);

// Takes a step out (puts one in before `at`); the dependences of the rank keep naming the steps
// that they named, and those on the step itself name the one after it, or before it at the end.
void erase_step(Draft& draft, StepAt at);
void insert_step(Draft& draft, StepAt at, const Step& step);

}  // namespace hocket::mutation
