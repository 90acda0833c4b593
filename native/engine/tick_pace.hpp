// Which ticks are run when: each at its time, and those that are late as soon as no leg says two packets in
// one breath by it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/base/frame.hpp"
#include "core/base/time.hpp"

namespace carillon {

class TickPace {
 public:
  /// Between two visits to a leg, which are 20 ms apart when nothing is late.
  static constexpr Nanos kLeastGap = 5 * kMillisecond;
  /// Behind by more, the lost time is given up: peers would have to throw such a burst away.
  static constexpr int64_t kMaxBehind = 60;
  /// Then whoever waits for what ticks have told of has a turn.
  static constexpr int kAtOnce = kFrameMs;

  /// The next tick is the first after `now`.
  void begin(Nanos now) { due_ = (now / kTick + 1) * kTick; }
  [[nodiscard]] Nanos due() const { return due_; }
  /// The next tick may be run from then on.
  [[nodiscard]] Nanos at() const { return std::max(due_, ran_at_[slot()] + kLeastGap); }

  /// Leaves out those that would have been until `now`. Returns how many.
  int64_t pass(Nanos now) { return leave_out((now - due_) / kTick); }
  /// Leaves out what is too late. Returns how many.
  int64_t give_up(Nanos now) {
    const int64_t behind = (now - due_) / kTick;
    return behind > kMaxBehind ? leave_out(behind) : 0;
  }

  /// `clock()`: the time. Calls `tick(due, now)` for those that are due when it is called.
  template <typename Clock, typename Tick>
  void run(const Clock& clock, const Tick& tick) {
    const Nanos until = clock();
    Nanos now = until;
    for (int left = kAtOnce; left > 0 && due_ <= until && at() <= now; --left) {
      ran_at_[slot()] = now;
      tick(due_, now);
      due_ += kTick;
      // Ticks that had nothing to do are one moment.
      if (const Nanos after = clock(); after - now > kTick / 8) now = after;
    }
  }

 private:
  [[nodiscard]] size_t slot() const { return static_cast<size_t>(due_ / kTick % kFrameMs); }
  int64_t leave_out(int64_t ticks) {
    ticks = std::max<int64_t>(0, ticks);
    due_ += ticks * kTick;
    return ticks;
  }

  Nanos due_{};
  std::array<Nanos, kFrameMs> ran_at_{};
};

}  // namespace carillon
