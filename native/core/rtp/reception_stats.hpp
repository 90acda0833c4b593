// Reception statistics of one RTP stream: loss (RFC 3550 A.3), jitter (A.8) and loss bursts.
#pragma once

#include <cstdint>

#include "core/base/units.hpp"
#include "core/rtp/loss_pattern.hpp"
#include "core/rtp/packet.hpp"
#include "core/rtp/unwrap.hpp"

namespace carillon {

struct ReceptionSummary {
  uint64_t received = 0;
  uint64_t duplicates = 0;
  /// Expected minus received packets, at least 0. Late duplicates can make the RFC's value negative.
  uint64_t lost = 0;
  uint64_t expected = 0;
  /// Lost packets of the current source only, as in RTCP (RFC 3550 A.3).
  uint64_t source_lost = 0;
  double jitter_ms = 0;
  double jitter_units = 0;  // in RTP clock units, as in RTCP
  /// Highest sequence number, extended by the number of wraps (RFC 3550 §6.4.1).
  uint32_t highest_sequence = 0;
  /// Mean number of consecutive lost packets: 1 for isolated losses, 0 without loss.
  double mean_loss_burst = 0;
};

class ReceptionStats {
 public:
  enum class Verdict : uint8_t {
    accepted,
    duplicate,
    suspect,    // far from the expected sequence: not counted until a second packet confirms it
    restarted,  // second packet of a new sequence (RFC 3550 A.1): numbering restarts with it
  };
  struct Seen {
    int64_t sequence;  // extended sequence number
    Verdict verdict;
  };

  /// Adds a received packet. `timestamp_is_audio`: false for telephone-event packets, whose timestamp does
  /// not advance; they yield no jitter sample.
  Seen receive(const RtpPacket& packet, Nanos arrival, bool timestamp_is_audio);

  /// Returns true if loss and reordering do not explain this sequence number.
  [[nodiscard]] bool far_from_sequence(uint16_t sequence) const;

  /// Marks a received packet as discarded because it arrived too late.
  void discarded(int64_t sequence);

  /// Sets the RTP clock. Default: 8000 Hz.
  void set_clock(RtpClockRate clock) {
    clock_ = clock;
    has_transit_ = false;
    jitter_ = 0;
  }

  /// Starts a new synchronization source. Totals are kept; the sequence restarts.
  void restart();

  [[nodiscard]] ReceptionSummary summary() const;
  /// Burst statistics, excluding the last 64 packets, which can still arrive or be discarded.
  [[nodiscard]] LossPatternSummary pattern() const { return pattern_.summary(); }

 private:
  [[nodiscard]] bool remember(int64_t sequence);
  void move_window(int64_t step);
  void observe_transit(uint32_t timestamp, Nanos arrival);

  RtpClockRate clock_{8000};
  SequenceUnwrapper sequence_;
  int32_t suspected_next_ = -1;
  int64_t base_ = 0;
  uint64_t seen_window_ = 0;  // bit n: sequence highest - n has arrived
  uint64_t discarded_window_ = 0;
  LossPattern pattern_;

  bool has_transit_ = false;
  uint32_t transit_ = 0;  // in timestamp units, wrapping
  double jitter_ = 0;     // in timestamp units

  uint64_t received_ = 0;
  uint64_t duplicates_ = 0;
  // Totals of earlier sources.
  uint64_t expected_before_ = 0;
  uint64_t received_before_ = 0;
  uint64_t loss_runs_ = 0;
  uint64_t loss_in_runs_ = 0;
};

}  // namespace carillon
