// A program of the language as a list of calls: what the generator makes, what the shrinker takes
// apart, what replay() runs through the public language, and what is printed for people as C++.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/collective.h"
#include "hocket/program.h"
#include "hocket/topology.h"

namespace hocket::random_test {

// `buffer` 0 is the input, 1 the output, 2 and more the scratch buffers "s2", "s3", ...
struct Place {
  int rank = 0;
  int buffer = 0;
  int index = 0;
  int size = 1;
  friend bool operator==(const Place&, const Place&) = default;
};

// How the program comes by the Ref of a place: all mean the same.
enum class Shape {
  direct,   // chunk(...)
  split,    // the first part of a chunk(...) of `parts` times the size, where that is there
  grouped,  // the group of its first and last chunk's neighbours
  overlap,  // the group of two halves that overlap
};

// Where a copy lands, as the program says it: all mean `dst`.
enum class Form { explicit_place, same_place, append };

struct Call {
  bool reduce = false;
  Place src;  // of a reduce: what is added
  Place dst;  // of a reduce: what it is added to
  Form form = Form::explicit_place;
  Shape shape = Shape::direct;  // of src
  Via via;
  int fragment = 0;  // 0: none; consecutive calls of one number are one fragment
};

struct RankShape {
  int input = 0;
  int output = 0;
  std::vector<bool> input_holds;
  std::vector<bool> output_holds;  // not in place
};

struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::custom;
  int chunk_factor = 1;
  bool in_place = false;
  int root = 0;
  std::vector<RankShape> shapes;  // of a custom one, by rank
};

// Which slots of the user buffers the collective of a custom program requires: all that hold
// something at the end, or about every second of them, chosen by `choice`.
struct Requirement {
  bool all = true;
  std::uint64_t choice = 0;
};

struct ProgramSpec {
  int ranks = 1;
  std::vector<std::vector<double>> links;  // empty: fully connected
  CollectiveSpec collective;
  Requirement requirement;
  ProgramOptions options;
  std::vector<int> fragments = {1};  // instances, by Call::fragment
  std::vector<Call> calls;
};

// The collective without a requirement of its own (a custom one says "don't care" everywhere).
Collective collective_of(const ProgramSpec& spec);

// The same with what must lie where, as an interpretation of the program found it.
struct Required {
  int rank = 0;
  Slot slot;
  std::vector<Origin> content;
};
Collective collective_of(const ProgramSpec& spec, const std::vector<Required>& required);

// Out of place, a built-in collective is a custom one with the same slots; false where nothing is
// changed.
bool to_custom(ProgramSpec& spec);

// Runs the calls through the language. Throws what the language throws.
Program replay(const ProgramSpec& spec, const Collective& collective);

// As a user would write it.
std::string listing(const ProgramSpec& spec);

}  // namespace hocket::random_test
