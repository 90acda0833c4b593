// Time as the core is told it: it never reads a clock.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace carillon {

/// Nanoseconds: a length of time, or an instant since an origin that is arbitrary but fixed for the life of
/// an engine. No bare number passes for one: times are made of the units below, and divided by one of them to
/// be numbers again.
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
  /// How often the one goes into the other, and what is left.
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

/// Of an instant: there was none yet.
inline constexpr Nanos kNever{-1};

/// With its fraction, for statistics.
constexpr double in_milliseconds(Nanos time) { return static_cast<double>(time.count()) / 1e6; }
constexpr Nanos nanos_of(double count, Nanos unit) {
  return Nanos(static_cast<int64_t>(count * static_cast<double>(unit.count())));
}

/// The engine's tick; not to be confused with a frame (20 ms).
inline constexpr Nanos kTick = kMillisecond;

}  // namespace carillon
