#include "core/base/huge_page_pool.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(place, bytes) (static_cast<void>(place), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(place, bytes) (static_cast<void>(place), static_cast<void>(bytes))
#endif

namespace carillon {

namespace {
size_t rounded_up(size_t bytes) {
  constexpr size_t alignment = alignof(std::max_align_t);
  return (bytes + alignment - 1) / alignment * alignment;
}
}  // namespace

HugePagePool::HugePagePool(size_t bytes) : bytes_(rounded_up(bytes)) {}

void HugePagePool::add_block() {
  const size_t places = kBlockBytes / bytes_;
  // First, so that give_back never allocates.
  free_.reserve(free_.capacity() + places);
  blocks_.reserve(blocks_.size() + 1);
  auto* const block = static_cast<std::byte*>(std::aligned_alloc(kBlockBytes, kBlockBytes));
  if (block == nullptr) throw std::bad_alloc();
  blocks_.emplace_back(block);
#ifdef MADV_HUGEPAGE
  // Advice: when it is not taken, all is as without it.
  static_cast<void>(::madvise(block, kBlockBytes, MADV_HUGEPAGE));
#endif
  // Built with AddressSanitizer, a place that nobody has is watched like freed memory.
  ASAN_POISON_MEMORY_REGION(block, kBlockBytes);
  // The first place is taken first.
  for (size_t i = places; i > 0; --i) free_.push_back(block + (i - 1) * bytes_);
}

void* HugePagePool::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) add_block();
  void* const place = free_.back();
  free_.pop_back();
  ASAN_UNPOISON_MEMORY_REGION(place, bytes_);
  return place;
}

void HugePagePool::give_back(void* place) noexcept {
  const std::scoped_lock lock(mutex_);
  ASAN_POISON_MEMORY_REGION(place, bytes_);
  free_.push_back(place);
}

}  // namespace carillon
