// What the judge found wrong with an algorithm.
#pragma once

#include <string>
#include <vector>

namespace hocket::oracle {

enum class FindingKind {
  structure,      // a step or threadblock that no runtime could run as meant
  merge,          // consecutive `re` steps that the loaders would merge into something else
  connection,     // owners, ends or matching of a connection
  deadlock,       // some threadblocks never finish
  race,           // two accesses that nothing orders
  through_ranks,  // a write and a later access ordered only by messages through other ranks
  uninitialised,  // a read of what nobody wrote
  wrong_result,   // the postcondition does not hold
};
const char* finding_kind_name(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::structure;
  int rank = -1;
  int tb = -1;
  int step = -1;
  std::string text;
};

using Findings = std::vector<Finding>;

// "race: rank 0 tb 1 step 2: ..."
std::string str(const Finding& finding);
std::string str(const Findings& findings);  // a line each, the first twenty
bool has(const Findings& findings, FindingKind kind);

}  // namespace hocket::oracle
