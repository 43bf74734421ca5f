// writer VERSION FILE: is this the version that was asked for? If so, writes a ring allgather to
// FILE.
#include <hocket/hocket.h>

#include <cstring>
#include <fstream>
#include <iostream>

using namespace hocket;

int main(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], kVersion) != 0) {
    std::cerr << "the headers are of version " << kVersion << '\n';
    return 1;
  }
  const int n = 4;
  Program p("ring_allgather", ring(n), allgather(n, 1));
  for (int r = 0; r < n; ++r) {
    Ref c = p.chunk(r, Buffer::input, 0).copy(r, Buffer::output, r);
    for (int hop = 1; hop < n; ++hop) c = c.copy((r + hop) % n);
  }
  p.check().require();
  std::ofstream(argv[2]) << to_xml(compile(p), {.target = Target::hocket});
}
