// Quantities as distinct types: adding RTP ticks to samples or bytes does not compile. Each type wraps one
// number and adds no runtime cost.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "core/base/time.hpp"

namespace carillon {

/// Count of one unit.
template <typename Unit, typename Number>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Number count) : count_(count) {}

  [[nodiscard]] constexpr Number count() const { return count_; }

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.count_ + b.count_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.count_ - b.count_); }
  friend constexpr Quantity operator*(Quantity a, Number times) { return Quantity(a.count_ * times); }
  /// Integer quotient of two quantities.
  friend constexpr Number operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  Number count_ = 0;
};

/// Samples of one audio channel.
using SampleCount = Quantity<struct SampleUnit, size_t>;
using ByteCount = Quantity<struct ByteUnit, size_t>;
/// Duration on the RTP clock (RFC 3550 §5.1). The payload format defines the rate, which can differ from the
/// sample rate (G.722: two samples per tick; Opus: always 48 kHz).
using RtpTicks = Quantity<struct RtpTickUnit, int64_t>;

/// Instant on the RTP clock, extended to 64 bits (unwrap.hpp), so instants can be compared directly.
class RtpTime {
 public:
  constexpr RtpTime() = default;
  constexpr explicit RtpTime(int64_t ticks) : since_zero_(ticks) {}

  [[nodiscard]] constexpr RtpTicks since_zero() const { return since_zero_; }

  constexpr RtpTime& operator+=(RtpTicks ticks) { return *this = *this + ticks; }
  friend constexpr RtpTime operator+(RtpTime time, RtpTicks ticks) {
    return RtpTime((time.since_zero_ + ticks).count());
  }
  friend constexpr RtpTime operator-(RtpTime time, RtpTicks ticks) {
    return RtpTime((time.since_zero_ - ticks).count());
  }
  friend constexpr RtpTicks operator-(RtpTime a, RtpTime b) { return a.since_zero_ - b.since_zero_; }
  friend constexpr auto operator<=>(RtpTime, RtpTime) = default;

 private:
  RtpTicks since_zero_;
};

/// RTP timestamp of a packet: 32 bits that wrap, so timestamps have no order.
class RtpTimestamp {
 public:
  constexpr RtpTimestamp() = default;
  constexpr explicit RtpTimestamp(uint32_t value) : value_(value) {}

  [[nodiscard]] constexpr uint32_t value() const { return value_; }

  constexpr RtpTimestamp& operator+=(RtpTicks ticks) { return *this = *this + ticks; }
  friend constexpr RtpTimestamp operator+(RtpTimestamp at, RtpTicks ticks) {
    return RtpTimestamp(at.value_ + static_cast<uint32_t>(ticks.count()));
  }
  friend constexpr RtpTimestamp operator-(RtpTimestamp at, RtpTicks ticks) {
    return RtpTimestamp(at.value_ - static_cast<uint32_t>(ticks.count()));
  }
  friend constexpr bool operator==(RtpTimestamp, RtpTimestamp) = default;

 private:
  uint32_t value_ = 0;
};

/// Units per second, a multiple of 1,000.
template <typename Count>
class Rate {
 public:
  constexpr explicit Rate(int hz) : per_ms_(hz / 1000) {}

  [[nodiscard]] constexpr int hz() const { return 1000 * per_ms_; }
  [[nodiscard]] constexpr int per_ms() const { return per_ms_; }
  [[nodiscard]] constexpr Nanos time_of(Count count) const {
    return static_cast<int64_t>(count.count()) * kMillisecond / per_ms_;
  }
  [[nodiscard]] constexpr Count in(Nanos time) const {
    return Count(static_cast<decltype(Count().count())>(time * per_ms_ / kMillisecond));
  }
  friend constexpr auto operator<=>(Rate, Rate) = default;

 private:
  int per_ms_;
};

using SampleRate = Rate<SampleCount>;
using RtpClockRate = Rate<RtpTicks>;

/// RTP clock rate and audio sample rate of a session.
struct SessionRates {
  RtpClockRate clock;
  SampleRate sample;

  [[nodiscard]] constexpr RtpTicks ticks(SampleCount samples) const {
    const auto count = static_cast<int64_t>(samples.count());
    return RtpTicks(same() ? count : count * clock.per_ms() / sample.per_ms());
  }
  [[nodiscard]] constexpr SampleCount samples(RtpTicks ticks) const {
    const int64_t count = ticks.count();
    return SampleCount(static_cast<size_t>(same() ? count : count * sample.per_ms() / clock.per_ms()));
  }

 private:
  [[nodiscard]] constexpr bool same() const { return clock.per_ms() == sample.per_ms(); }
};

}  // namespace carillon
