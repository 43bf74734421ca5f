// All-to-next: an algorithm that no library has, shaped by the machine.
//
// In a pipeline every GPU hands its buffer to the GPU before it. Inside a node that is one copy.
// Between nodes it would squeeze the whole buffer through one network card, while each of the other
// GPUs has a card that idles. So GPU 0 of a node scatters its buffer over the node, every GPU sends
// its part over its own card to its twin in the node before, and the twins gather it at the last
// GPU there.
//
// What you see here: scratch buffers by name, channels, a topology of nodes, the whole way from the
// program to compared results.
#include <hocket/hocket.h>

#include <iostream>

using namespace hocket;

Program all_to_next(int nodes, int gpus) {
  const int n = nodes * gpus;
  Program p("all_to_next", distributed_fully_connected(fully_connected(gpus), nodes, 1),
            all_to_next_backward(n, /*chunk_factor=*/gpus));
  for (int r = 1; r < n; ++r) {
    const int node = r / gpus;
    if (r % gpus != 0) {  // the GPU before it is in the same node: one copy of all chunks
      p.chunk(r, Buffer::input, 0, gpus).copy(r - 1, Buffer::output, 0);
      continue;
    }
    for (int g = 0; g < gpus; ++g) {
      Ref part = p.chunk(r, Buffer::input, g);
      const Via via{.channel = g % 2};
      // A name is a scratch buffer, which comes into being where it is first written.
      if (g != 0) part = part.copy(r + g, "scattered", 0, via);
      if (g != gpus - 1) part = part.copy((node - 1) * gpus + g, "crossed", 0, via);
      part.copy(r - 1, Buffer::output, g, via);
    }
  }
  return p;
}

int main() {
  const Program p = all_to_next(2, 8);
  p.check().require();

  const Algorithm algorithm = compile(p, {.target = Target::msccl});
  const AlgorithmStats shape = stats(algorithm);
  std::cout << shape.ranks << " ranks, " << shape.steps << " steps, longest chain "
            << shape.critical_path << "\n";
  std::cout << "MSCCL can load it: "
            << (check_limits(algorithm, Target::msccl).empty() ? "yes" : "no") << "\n";

  // On real data: fills every rank's input, runs all ranks in this process, compares every element.
  LocalExecutor executor(algorithm);
  SelfTestOptions options;
  options.run.count = 100000;
  const SelfTestResult result = self_test(executor, options);
  std::cout << result.bytes
            << " bytes a rank: " << (result.mismatch ? "wrong" : "every element right") << "\n";
}
