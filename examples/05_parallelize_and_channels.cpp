// How to use more of the machine: channels, instances, parallelize.
//
// One threadblock cannot fill a fast link. There are three ways to put more of them to work:
// - channels: copies on different channels go through different threadblocks and may overlap;
// - instances: the whole program runs k times, each time on a k-th of every chunk;
// - parallelize(k): only a fragment of the program does, for instance the slow hop between nodes.
//
// The program: rank 0 sends 4 chunks to rank 1 inside its node, which sends them on to rank 2 in
// the next node. What is counted: threadblocks of each rank, channels, and steps of all together.
//
// What you see here: Via, ProgramOptions, parallelize(), stats().
#include <hocket/hocket.h>

#include <iostream>

using namespace hocket;

constexpr int kChunks = 4;

// A pipeline 0 -> 1 -> 2: what rank 0 has, ranks 1 and 2 must get.
Collective pipeline() {
  CustomCollective c("pipeline", 3, kChunks);
  for (int r = 0; r < 3; ++r) {
    c.buffers(r, kChunks, kChunks);
    for (int k = 0; k < kChunks; ++k) {
      if (r == 0) c.holds(r, {BufferKind::input, k}, {r, k});
      if (r != 0) c.requires_(r, {BufferKind::output, k}, {{0, k}});
    }
  }
  return c.build();
}

void report(const std::string& how, const Program& p) {
  p.check().require();
  const Algorithm algorithm = compile(p);
  const AlgorithmStats shape = stats(algorithm);
  std::cout << how << ": threadblocks of the ranks";
  for (const RankProgram& rank : algorithm.ranks) std::cout << " " << rank.threadblocks.size();
  std::cout << "; channels " << shape.channels << "; steps " << shape.steps << "\n";
}

int main() {
  {
    Program p("plain", line(3), pipeline());
    for (int k = 0; k < kChunks; ++k) {
      p.chunk(0, Buffer::input, k).copy(1, Buffer::output, k).copy(2);
    }
    report("plain", p);
  }
  {
    Program p("channels", line(3), pipeline());
    for (int k = 0; k < kChunks; ++k) {
      const Via via{.channel = k % 2};
      p.chunk(0, Buffer::input, k).copy(1, Buffer::output, k, via).copy(2, via);
    }
    report("two channels", p);
  }
  {
    Program p("instances", line(3), pipeline(), {.instances = 2});
    for (int k = 0; k < kChunks; ++k) {
      p.chunk(0, Buffer::input, k).copy(1, Buffer::output, k).copy(2);
    }
    report("two instances of all of it", p);
  }
  {
    Program p("parallelize", line(3), pipeline());
    for (int k = 0; k < kChunks; ++k) {
      Ref c = p.chunk(0, Buffer::input, k).copy(1, Buffer::output, k);
      const Fragment slow_hop = p.parallelize(2);  // until the end of this block
      c.copy(2);
    }
    report("two instances of the slow hop", p);
  }
}
