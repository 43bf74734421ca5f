// libFuzzer's door to the verifier, behind the readers. Run it as docs/formats.md, "Fuzzing", says.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "fuzz/verify_any.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    hocket::fuzz::verify_any({reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    std::abort();
  }
  return 0;
}
