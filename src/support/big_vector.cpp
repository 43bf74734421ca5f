// The system calls.
#include "support/big_vector.h"

#include <cstdint>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace hocket {

#ifdef __linux__
namespace {

// Whole pages of the usual size; a mapping cannot be cut within one.
std::size_t in_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace
#endif

void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  if (bytes < kHugeFrom) return;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t start = (first + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (first + bytes) / kHugePage * kHugePage;
  if (start >= end) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): rounded to a page, still inside the caller's array
  static_cast<void>(::madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE));
#endif
}

#ifdef __linux__

void* allocate_pages(std::size_t bytes) {
  // As much more as alignment may take, which is given back at once.
  void* mapped = ::mmap(nullptr, in_pages(bytes) + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(mapped);
  const std::size_t before =
      (kHugePage - reinterpret_cast<std::uintptr_t>(first) % kHugePage) % kHugePage;
  const std::size_t size = in_pages(bytes);
  if (before > 0) ::munmap(first, before);
  if (before < kHugePage) ::munmap(first + before + size, kHugePage - before);
  prefer_huge_pages(first + before, bytes);
  return first + before;
}

void free_pages(void* memory, std::size_t bytes) noexcept { ::munmap(memory, in_pages(bytes)); }

#else

void* allocate_pages(std::size_t bytes) { return ::operator new(bytes); }
void free_pages(void* memory, std::size_t /*bytes*/) noexcept { ::operator delete(memory); }

#endif

}  // namespace hocket
