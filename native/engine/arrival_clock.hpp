// Predicts the next packet of a peer with a regular packet interval of 10 to 60 ms.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/time.hpp"

namespace carillon {

class ArrivalClock {
 public:
  /// Records a packet that arrived at `at`.
  void arrived(Nanos at) {
    Nanos off = at - next();
    // Packets in between were lost or not sent.
    if (const int64_t missed = (off + kTolerance) / interval_; missed > 0 && missed <= kMostMissed) {
      expected_ += missed * interval_;
      off -= missed * interval_;
    }
    if (abs(off) <= kTolerance) {
      // Follow the earliest packets: a delayed packet says little about the next arrival time.
      expected_ = next() + std::min(off, kDrift);
      steady_ = std::min(steady_ + 1, kSteady);
    } else {
      const int64_t steps = (at - last_ + kStep / 2) / kStep;
      interval_ = std::clamp<int64_t>(steps, 1, kMostSteps) * kStep;
      expected_ = at;
      steady_ = 0;
    }
    last_ = at;
  }

  /// Returns true if the recent packets arrived when expected.
  [[nodiscard]] bool steady() const { return steady_ == kSteady; }
  [[nodiscard]] Nanos next() const { return expected_ + interval_; }

 private:
  static constexpr Nanos kTolerance = 2 * kMillisecond;
  /// Maximum delay per packet that shifts the prediction.
  static constexpr Nanos kDrift = kMillisecond / 10;
  static constexpr int kSteady = 25;
  static constexpr int64_t kMostMissed = 10;
  /// Packet intervals are multiples of 10 ms.
  static constexpr Nanos kStep = 10 * kMillisecond;
  static constexpr int64_t kMostSteps = 6;

  Nanos last_{};
  Nanos expected_{};
  Nanos interval_ = 20 * kMillisecond;
  int steady_ = 0;
};

}  // namespace carillon
