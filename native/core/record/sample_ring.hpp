// Bounded lock-free queue of samples between two threads.
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

  /// Producer: adds all samples, or returns false if they do not fit.
  bool push(std::span<const Sample> samples) noexcept;
  /// Producer: number of samples that fit.
  [[nodiscard]] size_t room() const noexcept;

  /// Consumer: removes up to out.size() samples and returns their number.
  size_t pop(std::span<Sample> out) noexcept;
  /// Consumer: number of available samples.
  [[nodiscard]] size_t size() const noexcept;

 private:
  // Allocated in the constructor. Positions only increase and are reduced modulo the size when used; they
  // cannot reach 2^64.
  std::vector<Sample> samples_;
  // Separate cache lines prevent false sharing between the threads.
  alignas(64) std::atomic<size_t> written_{0};
  alignas(64) std::atomic<size_t> read_{0};
};

}  // namespace carillon
