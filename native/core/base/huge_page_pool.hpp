// Memory for objects that are many, large and visited in turn.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace carillon {

/// Places of one size in blocks of a huge page. A thousand legs on small pages are more pages than the
/// processor remembers the addresses of (its TLB), so that every visit to a leg begins with looking some up;
/// on huge pages it remembers them all. Where the system grants no huge pages, the blocks are ordinary
/// memory.
///
/// Blocks are kept as long as the pool: what was once needed at the busiest hour will be again. Not for the
/// media thread: it locks and allocates.
class HugePagePool {
 public:
  static constexpr size_t kBlockBytes = size_t{2} << 20;

  /// `bytes`: of a place, at most kBlockBytes; rounded up to the alignment of any type.
  explicit HugePagePool(size_t bytes);
  HugePagePool(const HugePagePool&) = delete;
  HugePagePool& operator=(const HugePagePool&) = delete;

  /// Throws std::bad_alloc when there is no memory.
  void* take();
  void give_back(void* place) noexcept;

 private:
  void add_block();

  struct Free {
    void operator()(void* block) const noexcept { std::free(block); }
  };

  const size_t bytes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<void, Free>> blocks_;
  std::vector<void*> free_;
};

}  // namespace carillon
