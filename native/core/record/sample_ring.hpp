// A bounded queue of samples from one thread to one other, without locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/frame.hpp"

namespace carillon {

class SampleRing {
 public:
  explicit SampleRing(size_t capacity) : samples_(capacity) {}

  /// Producer: all or nothing; false when there is no room.
  bool push(std::span<const Sample> samples) noexcept;
  /// Producer: how many samples fit now.
  [[nodiscard]] size_t room() const noexcept;

  /// Consumer: takes up to out.size() samples and returns how many.
  size_t pop(std::span<Sample> out) noexcept;
  /// Consumer: how many samples wait.
  [[nodiscard]] size_t size() const noexcept;

 private:
  // Allocated by this; positions count for ever and are reduced when used (2^64 samples never pass).
  std::vector<Sample> samples_;
  // On cache lines of their own, so that the two threads do not contend for one.
  alignas(64) std::atomic<size_t> written_{0};
  alignas(64) std::atomic<size_t> read_{0};
};

}  // namespace carillon
