// Objects of a leg under their handles, at most so many. Those that are there stand together, so that a visit
// to a leg which has none costs one look at a number.
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
  /// False, and the object stays with the caller, when the roster is full.
  bool put(std::unique_ptr<T>& item) {
    if (count_ == kMax) return false;
    items_[count_++] = std::move(item);
    return true;
  }

  /// Gives the object back, so that it is destroyed elsewhere; nothing when it is not here.
  template <typename Handle>
  std::unique_ptr<T> take(Handle handle) {
    for (size_t i = 0; i < count_; ++i) {
      if (items_[i]->handle() != handle) continue;
      std::unique_ptr<T> taken = std::move(items_[i]);
      // Those behind it move up: they are visited in the order in which they came.
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
