// Bounded queue of pointers with one producer and one consumer thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace carillon {

template <typename T>
class SpscRing {
 public:
  explicit SpscRing(size_t capacity) : items_(capacity) {}

  /// Adds an item. Returns false and leaves it unchanged if the ring is full.
  bool push(std::unique_ptr<T>& item) {
    const size_t written = written_.load(std::memory_order_relaxed);
    if (written - taken_.load(std::memory_order_acquire) == items_.size()) return false;
    items_[written % items_.size()] = std::move(item);
    written_.store(written + 1, std::memory_order_release);
    return true;
  }

  /// Consumer: returns true if the ring is empty.
  [[nodiscard]] bool empty() const {
    return taken_.load(std::memory_order_relaxed) == written_.load(std::memory_order_acquire);
  }

  /// Consumer: returns the next item, or null if the ring is empty.
  [[nodiscard]] const T* front() const {
    const size_t taken = taken_.load(std::memory_order_relaxed);
    if (taken == written_.load(std::memory_order_acquire)) return nullptr;
    return items_[taken % items_.size()].get();
  }

  std::unique_ptr<T> pop() {
    const size_t taken = taken_.load(std::memory_order_relaxed);
    if (taken == written_.load(std::memory_order_acquire)) return nullptr;
    std::unique_ptr<T> item = std::move(items_[taken % items_.size()]);
    taken_.store(taken + 1, std::memory_order_release);
    return item;
  }

 private:
  std::vector<std::unique_ptr<T>> items_;
  alignas(64) std::atomic<size_t> written_{0};
  alignas(64) std::atomic<size_t> taken_{0};
};

}  // namespace carillon
