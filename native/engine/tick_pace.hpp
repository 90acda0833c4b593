// Tick schedule: runs each tick on time. Late ticks are caught up as fast as possible without sending two
// packets of a leg back to back.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/base/frame.hpp"
#include "core/base/time.hpp"

namespace carillon {

class TickPace {
 public:
  /// Minimum time between two visits to a leg, which are normally 20 ms apart.
  static constexpr Nanos kLeastGap = 5 * kMillisecond;
  /// Maximum lag in ticks that is caught up. Beyond it, ticks are skipped, because peers would discard the
  /// burst.
  static constexpr int64_t kMaxBehind = 60;
  /// Maximum number of consecutive ticks, so that events can be processed in between.
  static constexpr int kAtOnce = kFrameMs;

  /// Schedules the next tick as the first one after `now`.
  void begin(Nanos now) { due_ = (now / kTick + 1) * kTick; }
  [[nodiscard]] Nanos due() const { return due_; }
  /// Earliest time for the next tick.
  [[nodiscard]] Nanos at() const { return std::max(due_, ran_at_[slot()] + kLeastGap); }

  /// Skips the ticks until `now` and returns their number.
  int64_t pass(Nanos now) { return leave_out((now - due_) / kTick); }
  /// Skips ticks that are too late and returns their number.
  int64_t give_up(Nanos now) {
    const int64_t behind = (now - due_) / kTick;
    return behind > kMaxBehind ? leave_out(behind) : 0;
  }

  /// Calls `tick(due, now)` for each tick that is due. `clock()` returns the time.
  template <typename Clock, typename Tick>
  void run(const Clock& clock, const Tick& tick) {
    const Nanos until = clock();
    Nanos now = until;
    for (int left = kAtOnce; left > 0 && due_ <= until && at() <= now; --left) {
      ran_at_[slot()] = now;
      tick(due_, now);
      due_ += kTick;
      // Ticks without work count as one instant.
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
