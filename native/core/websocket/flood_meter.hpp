// Rate limit for a bot's messages and bytes: a burst of `burst`, and `per_second` on average.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/base/time.hpp"

namespace carillon {

struct FloodLimits {
  struct Rate {
    double per_second = 0;
    double burst = 0;
  };
  Rate messages;
  Rate bytes;
  /// Total pause time after which a bot that exceeds the limit is disconnected.
  Nanos longest_rest{};
};

class FloodMeter {
 public:
  enum class Verdict : unsigned char {
    fine,
    /// Pause reading until rests_until().
    rest,
    /// As `rest`, for the first time.
    first_rest,
    /// The total pause time is exhausted.
    flooded,
  };

  explicit FloodMeter(const FloodLimits& limits)
      : limits_(limits), messages_(limits.messages.burst), bytes_(limits.bytes.burst) {}

  /// Counts a message or a frame. `messages` 0: an incomplete frame; the message is counted at its end.
  Verdict count(size_t bytes, Nanos now, unsigned messages = 1) {
    refill(now);
    messages_ -= messages;
    bytes_ -= static_cast<double>(bytes);
    const double debt =
        std::max(-messages_ / limits_.messages.per_second, -bytes_ / limits_.bytes.per_second);
    if (debt <= 0 || resting(now)) return Verdict::fine;
    const auto rest = nanos_of(debt, kSecond);
    const bool first = rests_since_ == Nanos{};
    rests_since_ = now;
    rests_until_ = now + rest;
    if (rested_ + rest > limits_.longest_rest) return Verdict::flooded;
    return first ? Verdict::first_rest : Verdict::rest;
  }

  /// Resumes reading. The actual pause counts, even if it was longer than required.
  void go_on(Nanos now) { rested_ += now - rests_since_; }

  [[nodiscard]] bool resting(Nanos now) const { return now < rests_until_; }

 private:
  void refill(Nanos now) {
    if (updated_ != Nanos{}) {
      const double seconds = in_milliseconds(now - updated_) / 1000;
      messages_ = std::min(limits_.messages.burst, messages_ + seconds * limits_.messages.per_second);
      bytes_ = std::min(limits_.bytes.burst, bytes_ + seconds * limits_.bytes.per_second);
    }
    updated_ = now;
  }

  FloodLimits limits_;
  double messages_;
  double bytes_;
  Nanos updated_{};
  Nanos rested_{};
  Nanos rests_since_{};
  Nanos rests_until_{};
};

}  // namespace carillon
