// Arrays of millions of elements on huge pages, where the system has them to give.
//
// A pass over a program of a million instructions jumps through tens of megabytes; on pages of 4
// KiB most of the time goes into finding the pages and into getting them from the system one by
// one. Linux gives an aligned range that asks for it (madvise, MADV_HUGEPAGE) pages of 2 MiB: whole
// compilations take two thirds of the time. Elsewhere, and for arrays below kHugeFrom, nothing
// changes. Content and behaviour are those of std::vector.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hocket {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Only whole pages inside an array are huge, so that nothing is rounded up.
inline constexpr std::size_t kHugeFrom = 2 * kHugePage;

// Asks for huge pages for the whole ones in a range that has just been allocated and not been
// touched. Never fails: it is a wish.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

// Memory of its own, aligned to huge pages, that goes back to the system when it is freed: what
// the general allocator keeps of arrays this large for later would count twice at the peak.
// Throws std::bad_alloc.
void* allocate_pages(std::size_t bytes);
void free_pages(void* memory, std::size_t bytes) noexcept;

template <typename T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <typename U>
  explicit HugePageAllocator(const HugePageAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    return static_cast<T*>(bytes < kHugeFrom ? ::operator new(bytes) : allocate_pages(bytes));
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    if (n * sizeof(T) < kHugeFrom) {
      ::operator delete(memory);
    } else {
      free_pages(memory, n * sizeof(T));
    }
  }
  friend bool operator==(const HugePageAllocator& /*a*/, const HugePageAllocator& /*b*/) {
    return true;
  }
};

template <typename T>
using BigVector = std::vector<T, HugePageAllocator<T>>;

// Reserves room for `n` elements in a vector or string of the usual kind, the first `sure` of them,
// which will surely be used, on huge pages if they are many.
template <typename Container>
void reserve_big(Container& container, std::size_t n, std::size_t sure) {
  container.reserve(n);
  prefer_huge_pages(container.data(), sure * sizeof(*container.data()));
}

}  // namespace hocket
