// runner FILE: runs the algorithm in FILE on real data and compares every element. Links no
// compiler.
#include <hocket/format.h>
#include <hocket/runtime.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream in(argv[1]);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  hocket::LocalExecutor executor(hocket::from_xml(text, argv[1]));
  hocket::SelfTestOptions options;
  options.run.count = 1000;
  const hocket::SelfTestResult result = hocket::self_test(executor, options);
  if (!result.checked || result.mismatch) {
    std::cerr << "the result is not checked, or wrong\n";
    return 1;
  }
}
