// Time types of the core. The core receives the time as an argument and never reads a clock.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace carillon {

/// Duration or instant in nanoseconds. The origin of instants is arbitrary but fixed for the lifetime of an
/// engine. Create values by multiplying the units below; divide by a unit to get a number.
class Nanos {
 public:
  constexpr Nanos() = default;
  constexpr explicit Nanos(int64_t count) : count_(count) {}
  static constexpr Nanos max() { return Nanos(std::numeric_limits<int64_t>::max()); }

  [[nodiscard]] constexpr int64_t count() const { return count_; }

  constexpr Nanos& operator+=(Nanos other) { return *this = *this + other; }
  constexpr Nanos& operator-=(Nanos other) { return *this = *this - other; }
  friend constexpr Nanos operator+(Nanos a, Nanos b) { return Nanos(a.count_ + b.count_); }
  friend constexpr Nanos operator-(Nanos a, Nanos b) { return Nanos(a.count_ - b.count_); }
  friend constexpr Nanos operator*(Nanos time, int64_t times) { return Nanos(time.count_ * times); }
  friend constexpr Nanos operator*(int64_t times, Nanos time) { return time * times; }
  friend constexpr Nanos operator/(Nanos time, int64_t parts) { return Nanos(time.count_ / parts); }
  /// Integer quotient and remainder of two durations.
  friend constexpr int64_t operator/(Nanos a, Nanos b) { return a.count_ / b.count_; }
  friend constexpr Nanos operator%(Nanos a, Nanos b) { return Nanos(a.count_ % b.count_); }
  friend constexpr auto operator<=>(Nanos, Nanos) = default;
  friend constexpr Nanos abs(Nanos time) { return time.count_ < 0 ? Nanos(-time.count_) : time; }

 private:
  int64_t count_ = 0;
};

inline constexpr Nanos kMicrosecond{1'000};
inline constexpr Nanos kMillisecond{1'000'000};
inline constexpr Nanos kSecond{1'000'000'000};

/// Marks an instant that has not occurred yet.
inline constexpr Nanos kNever{-1};

/// Converts to milliseconds with fraction, for statistics.
constexpr double in_milliseconds(Nanos time) { return static_cast<double>(time.count()) / 1e6; }
constexpr Nanos nanos_of(double count, Nanos unit) {
  return Nanos(static_cast<int64_t>(count * static_cast<double>(unit.count())));
}

/// Interval between engine ticks (1 ms). A frame lasts 20 ms.
inline constexpr Nanos kTick = kMillisecond;

}  // namespace carillon
