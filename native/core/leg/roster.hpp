// Fixed-capacity list of a leg's objects by handle. Entries are contiguous, so visiting a leg without objects
// costs one comparison.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace carillon {

template <typename T, size_t kMax>
class Roster {
 public:
  /// Adds an object. Returns false, and leaves it with the caller, if the list is full.
  bool put(std::unique_ptr<T>& item) {
    if (count_ == kMax) return false;
    items_[count_++] = std::move(item);
    return true;
  }

  /// Removes and returns the object, so that the caller destroys it elsewhere. Returns null if it is not in
  /// the list.
  template <typename Handle>
  std::unique_ptr<T> take(Handle handle) {
    for (size_t i = 0; i < count_; ++i) {
      if (items_[i]->handle() != handle) continue;
      std::unique_ptr<T> taken = std::move(items_[i]);
      // Shift later entries to keep the insertion order.
      std::move(items_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                items_.begin() + static_cast<std::ptrdiff_t>(count_),
                items_.begin() + static_cast<std::ptrdiff_t>(i));
      --count_;
      return taken;
    }
    return nullptr;
  }

  template <typename Handle>
  [[nodiscard]] T* find(Handle handle) const {
    for (const auto& item : all()) {
      if (item->handle() == handle) return item.get();
    }
    return nullptr;
  }

  [[nodiscard]] std::span<const std::unique_ptr<T>> all() const { return std::span(items_).first(count_); }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  size_t count_ = 0;
  std::array<std::unique_ptr<T>, kMax> items_;
};

}  // namespace carillon
