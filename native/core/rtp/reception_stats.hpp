// What a receiver knows about one RTP stream: RFC 3550 appendix A.3 (loss) and A.8 (jitter), plus loss
// bursts.
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
  /// Expected minus received; never negative (late duplicates can make the RFC's figure so).
  uint64_t lost = 0;
  uint64_t expected = 0;
  double jitter_ms = 0;
  double jitter_units = 0;  // of the RTP clock, as RTCP wants it
  /// Extended by the number of wraps (RFC 3550 §6.4.1).
  uint32_t highest_sequence = 0;
  /// Mean length of a run of lost packets; 1 when losses are isolated, 0 without loss.
  double mean_loss_burst = 0;
};

class ReceptionStats {
 public:
  enum class Verdict : uint8_t {
    accepted,
    duplicate,
    suspect,    // far from the sequence so far: not counted until a second packet confirms it
    restarted,  // the second packet of a new sequence (RFC 3550 A.1): numbering begins anew with this one
  };
  struct Seen {
    int64_t sequence;  // extended
    Verdict verdict;
  };

  /// `timestamp_is_audio`: false for telephone-event packets, whose timestamp stands still (no jitter
  /// sample).
  Seen receive(const RtpPacket& packet, Nanos arrival, bool timestamp_is_audio);

  /// A packet that was received came too late to be heard.
  void discarded(int64_t sequence);

  /// The clock of the timestamps; at first 8000 Hz.
  void set_clock(RtpClockRate clock) {
    clock_ = clock;
    has_transit_ = false;
    jitter_ = 0;
  }

  /// A new synchronisation source begins: totals go on, the sequence starts anew.
  void restart();

  [[nodiscard]] ReceptionSummary summary() const;
  /// As far as it is settled: the last 64 packets may still come, or be discarded.
  [[nodiscard]] LossPatternSummary pattern() const { return pattern_.summary(); }

 private:
  [[nodiscard]] bool remember(int64_t sequence);
  [[nodiscard]] bool far_from_sequence(uint16_t sequence) const;
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
  uint64_t expected_before_ = 0;
  uint64_t loss_runs_ = 0;
  uint64_t loss_in_runs_ = 0;
};

}  // namespace carillon
