// A first program: the ring allgather.
//
// Every rank starts with one chunk and must end with everybody's. A program says which chunk moves
// where, in any order that makes sense; here each chunk travels once round the ring. Running the
// program does not move data: it is *traced*. From the trace Hocket can tell at once whether the
// result is an allgather, and compile what every rank's threadblocks will do.
//
// What you see here: Program, chunk(), copy(), check(), compile(), stats(), to_xml().
#include <hocket/hocket.h>

#include <iostream>

using namespace hocket;

Program ring_allgather(int n) {
  Program p("ring_allgather", ring(n), allgather(n, 1));
  for (int r = 0; r < n; ++r) {
    // Rank r's own chunk goes to its place in the output, and from there on round the ring. copy()
    // returns the place it wrote, so that the next copy starts there; with no buffer and index it
    // goes to the same place on the other rank.
    Ref c = p.chunk(r, Buffer::input, 0).copy(r, Buffer::output, r);
    for (int hop = 1; hop < n; ++hop) c = c.copy((r + hop) % n);
  }
  return p;
}

int main() {
  const Program p = ring_allgather(3);

  const CheckReport report = p.check();
  std::cout << report.checked << " chunks compared, " << report.wrong << " wrong\n";

  const Algorithm algorithm = compile(p);
  const AlgorithmStats shape = stats(algorithm);
  std::cout << shape.steps << " steps in " << shape.threadblocks << " threadblocks on "
            << shape.channels << " channel\n\n";

  // The compiler has fused each receive with the send that follows it (rcs: receive, copy, send).
  std::cout << to_xml(algorithm, {.target = Target::msccl});
}
