// Quantities that are easily taken for one another, each a type of its own: what adds ticks of an RTP clock
// to samples, or bytes to either, does not compile. They cost nothing: each is the number it holds.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "core/base/time.hpp"

namespace carillon {

/// So many of one unit.
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
  /// How often the one goes into the other.
  friend constexpr Number operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  Number count_ = 0;
};

/// Of audio, one channel.
using SampleCount = Quantity<struct SampleUnit, size_t>;
using ByteCount = Quantity<struct ByteUnit, size_t>;
/// A stretch of the RTP clock (RFC 3550 §5.1), whose rate is the payload format's: it need not be a sample's
/// time (G.722: two samples a tick; Opus: always 48 kHz).
using RtpTicks = Quantity<struct RtpTickUnit, int64_t>;

/// An instant of the RTP clock, extended to 64 bits (unwrap.hpp): order is plain comparison.
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

/// A timestamp as it stands in a packet: 32 bits that wrap, so it has no order.
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

/// How many of a unit there are in a second: whole thousands.
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

/// The clock of a session's packets and the rate of the audio within them.
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
