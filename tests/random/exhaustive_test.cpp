// Every tiny program of a few small worlds, compiled with and without fusion, in one and two
// instances, and held to the same property as the random ones.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <set>

#include "random/property.h"

namespace hocket::random_test {
namespace {

// Ranks that all look alike: `input` chunks that hold something, `output` that do not, and scratch
// buffers of up to `scratch` chunks. Operations move up to `size` chunks.
struct World {
  int ranks = 2;
  int input = 1;
  int output = 1;
  int scratch = 1;
  int size = 1;
  int calls = 3;
  // Every program in all four variants, or in one of them in turn.
  bool all_variants = true;
};

class Enumerator {
 public:
  Enumerator(const World& world, std::function<void(const ProgramSpec&)> use)
      : world_(world), use_(std::move(use)) {
    spec_.ranks = world.ranks;
    for (int r = 0; r < world.ranks; ++r) {
      RankShape shape;
      shape.input = world.input;
      shape.output = world.output;
      shape.input_holds.assign(static_cast<std::size_t>(world.input), true);
      shape.output_holds.assign(static_cast<std::size_t>(world.output), false);
      spec_.collective.shapes.push_back(shape);
      for (int i = 0; i < world.input; ++i) written_.insert({r, 0, i});
      for (int size = 1; size <= world.size; ++size) {
        add_places(r, 0, world.input, size);
        add_places(r, 1, world.output, size);
        add_places(r, 2, world.scratch, size);
      }
    }
  }

  void run() { extend(); }

 private:
  struct Cell {
    int rank, buffer, index;
    auto operator<=>(const Cell&) const = default;
  };

  void add_places(int rank, int buffer, int chunks, int size) {
    for (int i = 0; i + size <= chunks; ++i) places_.push_back({rank, buffer, i, size});
  }

  bool holds(const Place& p) const {
    for (int i = 0; i < p.size; ++i) {
      if (written_.count({p.rank, p.buffer, p.index + i}) == 0) return false;
    }
    return true;
  }

  static bool overlap(const Place& a, const Place& b) {
    return a.rank == b.rank && a.buffer == b.buffer && a.index < b.index + b.size &&
           b.index < a.index + a.size;
  }

  // Ranks are named in the order in which they first occur: the others are the same programs again.
  bool names_in_order(const Call& call) const {
    int known = 0;
    for (const Call& earlier : spec_.calls) {
      known = std::max({known, earlier.src.rank + 1, earlier.dst.rank + 1});
    }
    if (call.src.rank > known) return false;
    return call.dst.rank <= std::max(known, call.src.rank + 1);
  }

  void extend() {
    if (!spec_.calls.empty()) use_(spec_);
    if (static_cast<int>(spec_.calls.size()) == world_.calls) return;
    for (const Place& src : places_) {
      if (!holds(src)) continue;
      for (const Place& dst : places_) {
        if (src.size != dst.size || overlap(src, dst)) continue;
        for (const bool reduce : {false, true}) {
          if (reduce && !holds(dst)) continue;
          Call call;
          call.reduce = reduce;
          call.src = src;
          call.dst = dst;
          if (!names_in_order(call)) continue;
          const auto before = written_;
          spec_.calls.push_back(call);
          for (int i = 0; i < dst.size; ++i) written_.insert({dst.rank, dst.buffer, dst.index + i});
          extend();
          spec_.calls.pop_back();
          written_ = before;
        }
      }
    }
  }

  const World world_;
  std::function<void(const ProgramSpec&)> use_;
  std::vector<Place> places_;
  std::set<Cell> written_;
  ProgramSpec spec_;
};

// A sanitizer is for faults that many programs show: it sees every so-manieth.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kEvery = 23;
#else
constexpr std::uint64_t kEvery = 1;
#endif

void check_world(const World& world) {
  std::uint64_t programs = 0;
  int faults = 0;
  Enumerator(world, [&](const ProgramSpec& program) {
    ++programs;
    if (faults > 0 || programs % kEvery != 0) return;
    Checks checks;
    checks.ways = {{Target::hocket, std::nullopt}, {Target::rccl, std::nullopt}};
    for (int variant = 0; variant < 4; ++variant) {
      if (!world.all_variants && programs / 2 % 4 != static_cast<unsigned>(variant)) continue;
      ProgramSpec spec = program;
      spec.options.fuse = variant % 2 == 0;
      spec.options.instances = 1 + variant / 2;
      // What no slot needs may be left out, or kept from being stored.
      spec.requirement.all = programs % 2 == 0;
      spec.requirement.choice = programs / 2;
      const Outcome outcome = check_program(spec, checks);
      if (outcome.right) continue;
      ++faults;
      ADD_FAILURE() << "program " << programs << "\n" << report(spec, outcome);
      return;
    }
  }).run();
  std::cout << programs << " programs\n";
  EXPECT_GT(programs, 1000U);
}

TEST(EveryTinyProgram, OfTwoRanksWithOneChunk) {
  check_world({.ranks = 2, .input = 1, .output = 1, .scratch = 1, .size = 1, .calls = 3});
}

TEST(EveryTinyProgram, OfTwoRanksWithOneChunkAndFourCalls) {
  check_world({.ranks = 2,
               .input = 1,
               .output = 1,
               .scratch = 1,
               .size = 1,
               .calls = 4,
               .all_variants = false});
}

TEST(EveryTinyProgram, OfTwoRanksWithTwoChunks) {
  check_world({.ranks = 2, .input = 2, .output = 2, .scratch = 2, .size = 2, .calls = 2});
}

TEST(EveryTinyProgram, OfThreeRanksWithoutOutput) {
  check_world({.ranks = 3, .input = 1, .output = 0, .scratch = 1, .size = 1, .calls = 3});
}

TEST(EveryTinyProgram, OfTwoRanksWithInputOnly) {
  check_world({.ranks = 2, .input = 2, .output = 0, .scratch = 0, .size = 2, .calls = 3});
}

TEST(EveryTinyProgram, OfOneRank) {
  check_world({.ranks = 1, .input = 2, .output = 1, .scratch = 1, .size = 1, .calls = 4});
}

}  // namespace
}  // namespace hocket::random_test
