// What check() says of a mistake.
//
// In an allreduce every rank must end with the sum of all ranks' chunks. This program adds them up
// on rank 0 and hands the sum out, but it has a slip: it counts rank 1 twice and forgets rank 3.
// Such a program runs to its end on any machine and gives a wrong number, which someone notices
// weeks later. check() knows the content of every chunk as a multiset of *origins* (whose input,
// which index), so it says exactly what is missing, what is surplus, and which line wrote it last.
//
// What you see here: reduce(), CheckReport, WrongChunk, require().
#include <hocket/hocket.h>

#include <iostream>

using namespace hocket;

constexpr int kRanks = 4;
int line_of_broadcast = 0;

Program allreduce_on_rank_0(const std::vector<int>& others) {
  Program p("allreduce_on_rank_0", fully_connected(kRanks), allreduce(kRanks, 1));
  Ref sum = p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0);
  for (const int r : others) sum = sum.reduce(p.chunk(r, Buffer::input, 0));
  for (int r = 1; r < kRanks; ++r) {
    line_of_broadcast = __LINE__ + 1;
    sum.copy(r, Buffer::output, 0);
  }
  return p;
}

std::string names(const std::vector<Origin>& origins) {
  std::string text;
  for (const Origin& o : origins) text += " rank " + std::to_string(o.rank);
  return text.empty() ? " nothing" : text;
}

int main() {
  const Program wrong = allreduce_on_rank_0({1, 1, 2});
  const CheckReport report = wrong.check();
  std::cout << report.wrong << " of " << report.checked << " chunks are wrong\n";
  for (const WrongChunk& chunk : report.list) {
    std::cout << "rank " << chunk.rank << " " << buffer_kind_name(chunk.buffer) << "["
              << chunk.index << "]: found" << names(chunk.found) << "; missing"
              << names(chunk.missing) << "; surplus" << names(chunk.surplus) << "\n";
  }
  const bool blamed = report.list[1].last_write.line == static_cast<unsigned>(line_of_broadcast);
  std::cout << "the last write to rank 1's was the line of the copy: " << (blamed ? "yes" : "no")
            << "\n";

  // For programs that must not go on: require() throws.
  try {
    report.require();
  } catch (const Error& error) {
    std::cout << "require() throws " << code_text(error.code()) << "\n";
  }

  const Program right = allreduce_on_rank_0({1, 2, 3});
  std::cout << "corrected: " << right.check().wrong << " wrong\n";
}
