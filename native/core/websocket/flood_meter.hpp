// How fast a bot may send: `burst` at once, `per_second` on average, in messages and in bytes.
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
  /// Sum of rests after which a bot that stays in debt is cut off.
  Nanos longest_rest{};
};

class FloodMeter {
 public:
  enum class Verdict : unsigned char {
    fine,
    /// Reading has to rest until rests_until().
    rest,
    /// The same, and it is the first time.
    first_rest,
    /// The limit of rests is used up.
    flooded,
  };

  explicit FloodMeter(const FloodLimits& limits)
      : limits_(limits), messages_(limits.messages.burst), bytes_(limits.bytes.burst) {}

  /// A message, or a frame of one, has come; `messages` 0: a part of a frame, whose end is counted.
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

  /// Reading goes on. What it has rested counts, which may be longer than it had to.
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
