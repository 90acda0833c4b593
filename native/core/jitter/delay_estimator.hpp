// Estimates packet delay relative to the fastest recent packet, and the playout delay that would catch nearly
// all packets.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/units.hpp"

namespace carillon {

class DelayEstimator {
 public:
  explicit DelayEstimator(RtpClockRate clock) : clock_(clock) {}

  void observe(RtpTime timestamp, Nanos arrival);
  void reset();

  /// Returns the earliest possible arrival time of `timestamp`, given the fastest recent packet.
  [[nodiscard]] Nanos earliest(RtpTime timestamp) const { return base() + time_of(timestamp); }
  /// Returns the newest timestamp that can have arrived at `now`.
  [[nodiscard]] RtpTime newest_at(Nanos now) const { return RtpTime(clock_.in(now - base()).count()); }
  [[nodiscard]] bool ready() const { return packets_seen_ > 0; }
  /// Wanted playout delay, between kMinDelay and kMaxDelay: kMargin above the delay that catches nearly all
  /// packets.
  [[nodiscard]] Nanos target() const { return target_; }

  static constexpr Nanos kMinDelay = 10 * kMillisecond;
  static constexpr Nanos kMaxDelay = 200 * kMillisecond;
  static constexpr Nanos kStartDelay = 40 * kMillisecond;
  static constexpr Nanos kMargin = 5 * kMillisecond;

 private:
  static constexpr Nanos kBin = 5 * kMillisecond;
  static constexpr size_t kBins = static_cast<size_t>(kMaxDelay / kBin);

  [[nodiscard]] Nanos time_of(RtpTime timestamp) const { return clock_.time_of(timestamp.since_zero()); }
  /// Arrival time minus media time of the fastest recent packet.
  [[nodiscard]] Nanos base() const;
  void update_base(Nanos transit, Nanos arrival);
  void count(Nanos delay);
  void lighten();

  RtpClockRate clock_;
  // Fastest transit times of the current and the previous window. Their minimum follows clock drift.
  Nanos window_began_{};
  Nanos fastest_now_{};
  Nanos fastest_before_{};

  int64_t packets_seen_ = 0;
  RtpTime last_timestamp_;
  Nanos last_arrival_{};
  Nanos last_delay_{};
  Nanos target_ = kStartDelay;
  float weight_ = 1;  // weight of the newest packet in the histogram
  float total_ = 0;   // sum of all weights
  std::array<float, kBins> histogram_{};
};

}  // namespace carillon
