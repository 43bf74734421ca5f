// A machine of one's own, and how mistakes are told.
//
// A topology says who has a link to whom; a copy over a link that is not there is refused at the
// call. So is every other mistake: an Error has a stable code (docs/errors.md explains each), a
// message in the program's own terms, the line of the call, and a hint.
//
// The machine: two pairs of GPUs, 0-1 and 2-3, with fast links inside a pair and one slow link
// between 1 and 2.
//
// What you see here: Topology, set_link(), Error, Diagnostic, warnings().
#include <hocket/hocket.h>

#include <functional>
#include <iostream>

using namespace hocket;

Topology two_pairs() {
  Topology t("two pairs", 4);
  for (const auto& [a, b, bandwidth] : {std::tuple{0, 1, 50.0}, {1, 2, 10.0}, {2, 3, 50.0}}) {
    t.set_link(a, b, {.bandwidth = bandwidth}).set_link(b, a, {.bandwidth = bandwidth});
  }
  return t;
}

void attempt(const std::string& what, const std::function<void(Program&)>& mistake) {
  Program p("attempt", two_pairs(), allgather(4, 2));
  try {
    mistake(p);
    std::cout << what << ": accepted\n";
  } catch (const Error& error) {
    const Diagnostic& d = error.diagnostic();
    std::cout << what << ":\n  " << code_text(d.code) << " " << d.message << "\n";
    if (!d.hint.empty()) std::cout << "  hint: " << d.hint << "\n";
    if (!d.where.known()) std::cout << "  (it does not say where)\n";
  }
}

int main() {
  const Topology machine = two_pairs();
  std::cout << "rank 1 can send to";
  for (const int r : machine.destinations(1)) std::cout << " " << r;
  std::cout << "\n";

  attempt("a copy along the links",
          [](Program& p) { p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0).copy(2); });
  attempt("a copy over a link that is not there",
          [](Program& p) { p.chunk(0, Buffer::input, 0).copy(3, Buffer::output, 0); });
  attempt("a rank that is not there", [](Program& p) { p.chunk(4, Buffer::input, 0); });
  attempt("an index past the end", [](Program& p) { p.chunk(0, Buffer::input, 2); });
  attempt("a place that nobody has written", [](Program& p) { p.chunk(0, Buffer::output, 5); });
  attempt("a split that does not divide",
          [](Program& p) { p.chunk(0, Buffer::input, 0, 2).split(3); });
  attempt("a reduce of unequal sizes",
          [](Program& p) { p.chunk(0, Buffer::input, 0, 2).reduce(p.chunk(1, Buffer::input, 0)); });

  // A reference whose place was overwritten since is not an error, but worth a warning.
  Program p("stale", machine, allgather(4, 1));
  Ref old = p.chunk(0, Buffer::input, 0).copy(1, "here", 0);
  p.chunk(2, Buffer::input, 0).copy(1, "here", 0);
  old.copy(1, Buffer::output, 0);
  for (const Diagnostic& warning : p.warnings()) {
    std::cout << "warning " << code_text(warning.code) << " " << warning.message << "\n";
  }
}
