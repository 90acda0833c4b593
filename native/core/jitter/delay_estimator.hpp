// How late packets come, relative to the fastest of the last seconds, and what delay would have caught nearly
// all.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/frame.hpp"

namespace carillon {

class DelayEstimator {
 public:
  /// `timestamp` extended, in samples.
  void observe(int64_t timestamp, Nanos arrival);
  void reset();

  /// Arrival time minus media time of the fastest recent packet: `base() + timestamp` is when a sample with
  /// that timestamp could at best have been here.
  [[nodiscard]] Nanos base() const;
  [[nodiscard]] bool ready() const { return samples_seen_ > 0; }
  /// Playout delay wanted, between kMinDelay and kMaxDelay.
  [[nodiscard]] Nanos target() const { return target_; }

  static constexpr Nanos kMinDelay = 20 * kMillisecond;
  static constexpr Nanos kMaxDelay = 200 * kMillisecond;
  static constexpr Nanos kStartDelay = 40 * kMillisecond;

 private:
  static constexpr Nanos kBin = 5 * kMillisecond;
  static constexpr size_t kBins = static_cast<size_t>(kMaxDelay / kBin);

  void update_base(Nanos transit, Nanos arrival);
  void count(Nanos delay);

  // Fastest transit of this window and of the one before: a sliding minimum that follows clock drift.
  Nanos window_began_ = 0;
  Nanos fastest_now_ = 0;
  Nanos fastest_before_ = 0;

  int64_t samples_seen_ = 0;
  int64_t last_timestamp_ = 0;
  Nanos last_arrival_ = 0;
  Nanos last_delay_ = 0;
  Nanos target_ = kStartDelay;
  float total_ = 0;  // of the histogram
  std::array<float, kBins> histogram_{};
};

}  // namespace carillon
