// The four ladders by which the compiler's speed is judged: each a program that grows with one
// number.
#pragma once

#include <string>
#include <vector>

#include "hocket/program.h"

namespace hocket::ladders {

struct Ladder {
  std::string name;
  std::vector<int> rungs;  // the values of the number
  Program (*make)(int);
};

// ring allreduce by ranks, one chunk a rank; all-pairs alltoall by ranks; two-step alltoall by
// nodes of 8; all-to-next by nodes of 8.
const std::vector<Ladder>& all();

}  // namespace hocket::ladders
