// A collective of one's own: the halo exchange.
//
// Ranks in a ring each hold a strip of a grid in three chunks: left edge, middle, right edge.
// Before the next time step each needs its left neighbour's right edge and its right neighbour's
// left edge. No library calls this a collective; here it becomes one by saying what lies where
// before (holds) and what must lie where after (requires_). From then on everything works as for an
// allreduce: the program is checked, the compiled algorithm run and compared, and a wrong one
// explained.
//
// What you see here: CustomCollective, one use of it right and one wrong.
#include <hocket/hocket.h>

#include <iostream>

using namespace hocket;

Collective halo(int n) {
  CustomCollective c("halo", n);
  for (int r = 0; r < n; ++r) {
    c.buffers(r, /*input_chunks=*/3, /*output_chunks=*/2);
    for (int k = 0; k < 3; ++k) c.holds(r, {BufferKind::input, k}, {r, k});
    const int left = (r + n - 1) % n;
    const int right = (r + 1) % n;
    c.requires_(r, {BufferKind::output, 0}, {{left, 2}});
    c.requires_(r, {BufferKind::output, 1}, {{right, 0}});
  }
  return c.build();
}

Program exchange(int n, bool mixed_up) {
  Program p("halo_exchange", ring(n), halo(n));
  for (int r = 0; r < n; ++r) {
    const int left = (r + n - 1) % n;
    const int right = (r + 1) % n;
    p.chunk(r, Buffer::input, 0).copy(left, Buffer::output, mixed_up ? 0 : 1);
    p.chunk(r, Buffer::input, 2).copy(right, Buffer::output, mixed_up ? 1 : 0);
  }
  return p;
}

int main() {
  const Program right = exchange(5, false);
  std::cout << right.collective().name() << ": " << right.check().checked << " chunks compared, "
            << right.check().wrong << " wrong\n";

  LocalExecutor executor(compile(right));
  SelfTestOptions options;
  options.run.type = DataType::float64;
  options.run.count = 1000;  // elements of one chunk
  std::cout << "on real data: " << (self_test(executor, options).mismatch ? "wrong" : "right")
            << "\n";

  const Program wrong = exchange(5, true);
  const CheckReport report = wrong.check();
  const WrongChunk& first = report.list.front();
  std::cout << "mixed up: " << report.wrong << " wrong; rank " << first.rank << " output["
            << first.index << "] must hold chunk " << first.expected.front().index << " of rank "
            << first.expected.front().rank << ", found chunk " << first.found.front().index
            << " of rank " << first.found.front().rank << "\n";
}
