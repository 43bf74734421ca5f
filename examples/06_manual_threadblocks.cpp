// Placing everything by hand.
//
// The compiler chooses threadblocks and channels well, but who tunes for one machine may want to.
// With manual placement every operation names the threadblock that sends, the one that receives,
// and the channel. A threadblock has at most one peer to send to and one to receive from, on one
// channel; a placement that breaks this is refused, with the two operations that clash.
//
// The program: two ranks swap their chunks, each sending with threadblock 0 and receiving with 1.
//
// What you see here: Placement::manual, Via, what a threadblock is in the compiled algorithm,
// HK0301.
#include <hocket/hocket.h>

#include <iostream>

using namespace hocket;

Program swap(int ranks, bool clash) {
  Program p("swap", fully_connected(ranks), alltoall(ranks, 1), {.placement = Placement::manual});
  for (int r = 0; r < ranks; ++r) {
    for (int other = 0; other < ranks; ++other) {
      const Ref mine = p.chunk(r, Buffer::input, other);
      if (other == r) {
        mine.copy(r, Buffer::output, r, {.channel = 0, .send_tb = 0});
        continue;
      }
      // One sending and one receiving threadblock a peer; with a clash, one for all peers.
      const int hop = clash ? 0 : (other - r + ranks) % ranks - 1;
      const int back = clash ? 0 : (r - other + ranks) % ranks - 1;
      mine.copy(other, Buffer::output, r,
                {.channel = 0, .send_tb = 2 * hop, .recv_tb = 2 * back + 1});
    }
  }
  return p;
}

int main() {
  const Program p = swap(2, false);
  p.check().require();
  const Algorithm algorithm = compile(p);
  for (int r = 0; r < algorithm.num_ranks(); ++r) {
    const RankProgram& rank = algorithm.ranks[static_cast<std::size_t>(r)];
    for (std::size_t t = 0; t < rank.threadblocks.size(); ++t) {
      const ThreadBlock& tb = rank.threadblocks[t];
      std::cout << "rank " << r << " threadblock " << t << " (send " << tb.send << ", recv "
                << tb.recv << ", channel " << tb.channel << "):";
      for (const Step& step : algorithm.steps_of(tb)) std::cout << " " << op_info(step.op).name;
      std::cout << "\n";
    }
  }

  const Program clashing = swap(3, true);
  try {
    compile(clashing);
  } catch (const Error& error) {
    std::cout << code_text(error.code()) << ": " << error.diagnostic().message << "\n";
  }
}
