// When the next packet of a peer comes that speaks by a clock, as nearly all do: 10 to 60 ms after the one
// before.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/time.hpp"

namespace carillon {

class ArrivalClock {
 public:
  /// A packet came then.
  void arrived(Nanos at) {
    Nanos off = at - next();
    // Those between were lost, or not sent.
    if (const int64_t missed = (off + kTolerance) / interval_; missed > 0 && missed <= kMostMissed) {
      expected_ += missed * interval_;
      off -= missed * interval_;
    }
    if (abs(off) <= kTolerance) {
      // By the earliest: what was held up on the way says little of when the next will come.
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

  /// Those of late came when they were expected.
  [[nodiscard]] bool steady() const { return steady_ == kSteady; }
  [[nodiscard]] Nanos next() const { return expected_ + interval_; }

 private:
  static constexpr Nanos kTolerance = 2 * kMillisecond;
  /// How much later a packet may come than the one before, and be believed.
  static constexpr Nanos kDrift = kMillisecond / 10;
  static constexpr int kSteady = 25;
  static constexpr int64_t kMostMissed = 10;
  /// Packet times are tens of milliseconds.
  static constexpr Nanos kStep = 10 * kMillisecond;
  static constexpr int64_t kMostSteps = 6;

  Nanos last_{};
  Nanos expected_{};
  Nanos interval_ = 20 * kMillisecond;
  int steady_ = 0;
};

}  // namespace carillon
