// Histogram of tick delays over the last 10 to 20 s, with one writer thread and one reader thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "core/base/time.hpp"

namespace carillon {

class Lateness {
 public:
  void record(Nanos late, Nanos now) {
    if (now - began_ > kWindow) {
      began_ = now;
      active_.store(1 - active_.load(std::memory_order_relaxed), std::memory_order_relaxed);
      for (auto& bin : bins_[active_.load(std::memory_order_relaxed)])
        bin.store(0, std::memory_order_relaxed);
    }
    const auto bin = static_cast<size_t>(std::clamp<int64_t>(late / kBin, 0, kBins - 1));
    bins_[active_.load(std::memory_order_relaxed)][bin].fetch_add(1, std::memory_order_relaxed);
  }

  /// Upper edge in µs of the bin that contains the quantile.
  [[nodiscard]] double quantile_us(double quantile) const {
    uint64_t total = 0;
    for (size_t i = 0; i < kBins; ++i) total += at(i);
    uint64_t sum = 0;
    for (size_t i = 0; i < kBins && total > 0; ++i) {
      sum += at(i);
      if (static_cast<double>(sum) >= quantile * static_cast<double>(total)) {
        return 1000 * in_milliseconds(static_cast<int64_t>(i + 1) * kBin);
      }
    }
    return 0;
  }

 private:
  static constexpr Nanos kWindow = 10 * kSecond;
  static constexpr Nanos kBin = 20 * kMicrosecond;
  static constexpr size_t kBins = 1000;  // up to 20 ms

  [[nodiscard]] uint64_t at(size_t bin) const {
    return uint64_t{bins_[0][bin].load(std::memory_order_relaxed)} +
           bins_[1][bin].load(std::memory_order_relaxed);
  }

  Nanos began_{};
  std::atomic<size_t> active_{0};
  std::array<std::array<std::atomic<uint32_t>, kBins>, 2> bins_{};
};

}  // namespace carillon
