// Clock of a sender, estimated from the arrival times of its packets.
#pragma once

#include <cstdint>

#include "core/base/time.hpp"

namespace carillon {

/// Estimates the time at which the fastest packets of a stream arrive, relative to their media time, and the
/// drift of this time. The fastest packet of every two seconds is compared with the estimate, so that jitter
/// averages out.
class SenderClock {
 public:
  /// Starts with a packet. `transit`: its arrival time minus its media time.
  void restart(Nanos transit, Nanos arrival);
  /// Adds a packet of the stream.
  void observe(Nanos transit, Nanos arrival);
  /// Returns the transit time of the fastest packets at `now`. Media time plus this is the local time.
  [[nodiscard]] Nanos transit_at(Nanos now) const;
  /// Clock difference, positive if the sender is slow. At most kMaxDrift.
  [[nodiscard]] double drift() const { return drift_; }

  static constexpr double kMaxDrift = 1e-3;

 private:
  void finish_block(Nanos arrival);

  Nanos transit_{};  // at `at_`
  Nanos at_{};
  double drift_ = 0;
  /// Completed blocks, up to a limit. 0: the first block follows each faster packet immediately.
  int blocks_ = 0;
  Nanos block_began_{};
  int block_packets_ = 0;
  Nanos block_fastest_{};
  Nanos last_arrival_{};
  bool stepped_ = false;
};

}  // namespace carillon
