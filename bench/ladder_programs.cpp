// Written on the library's own programs and the twins of the published ones.
#include "ladder_programs.h"

#include <fmt/format.h>

#include "reference_programs.h"

namespace hocket::ladders {
namespace {

Program twin(const char* name, const std::string& args) { return *reference::make(name, args); }

}  // namespace

const std::vector<Ladder>& all() {
  static const std::vector<Ladder> ladders = {
      {"allreduce_ring",
       {8, 16, 32, 64, 128, 256, 512},
       [](int n) { return twin("allreduce_a100_ring", fmt::format("{} 1 1", n)); }},
      {"alltoall_allpairs",
       {8, 16, 32, 64, 128, 256, 512},
       [](int n) { return twin("alltoall_allpairs", fmt::format("{} 1", n)); }},
      {"alltoall_two_step",
       {4, 8, 16, 32, 64},
       [](int n) { return twin("alltoall_a100_two_step", fmt::format("{} 8", n)); }},
      {"all_to_next",
       {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
       [](int n) { return twin("alltonext_forward", fmt::format("{} 1", n)); }},
  };
  return ladders;
}

}  // namespace hocket::ladders
