// RTCP reports (RFC 3550 §6.4): sends reports about the peer's stream and processes its reports about ours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/time.hpp"
#include "core/rtp/protection.hpp"
#include "core/rtp/reception_stats.hpp"
#include "core/rtp/rtcp_xr.hpp"

namespace carillon {

/// Returns the engine time in NTP format (32.32 fixed point). RFC 3550 §6.4.1 allows a clock other than wall
/// time.
uint64_t ntp_of(Nanos now);

struct SenderInfo {
  uint64_t ntp = 0;
  uint32_t rtp_timestamp = 0;
  uint32_t packets = 0;
  uint32_t octets = 0;
};

struct ReportBlock {
  uint32_t ssrc = 0;  // reported stream
  uint8_t fraction_lost = 0;
  int32_t cumulative_lost = 0;
  uint32_t highest_sequence = 0;
  uint32_t jitter = 0;
  uint32_t last_sr = 0;
  uint32_t delay_since_last_sr = 0;  // unit: 1/65536 s
};

/// Content of a compound packet that concerns us.
struct RtcpContent {
  /// Middle 32 bits of the NTP timestamp in a sender report.
  std::optional<uint32_t> sender_report;
  /// SSRC of that report's sender.
  uint32_t sender = 0;
  /// Last report block about `our_ssrc`.
  std::optional<ReportBlock> about_us;
  std::optional<VoipMetrics> metrics_about_us;
};

/// Returns the SSRC of the sender, or nullopt if the datagram is too short.
std::optional<uint32_t> sender_of_rtcp(Bytes datagram);

/// Returns nullopt if the datagram is not a valid compound packet (RFC 3550 A.2).
std::optional<RtcpContent> parse_rtcp(Bytes datagram, uint32_t our_ssrc);

/// RTCP session of one leg: report schedule, report content and round-trip time.
class RtcpSession {
 public:
  static constexpr size_t kMaxBytes = 160;
  /// Mean time between reports. Each interval is randomized between 0.5 and 1.5 times this value (RFC 3550
  /// §6.3.1).
  static constexpr Nanos kInterval = 5 * kSecond;

  RtcpSession(PacketProtection& protection, uint32_t ssrc)
      : protection_(&protection), ssrc_(ssrc), random_(ssrc | 1) {}
  void protect_with(PacketProtection& protection) { protection_ = &protection; }

  /// Returns true when a report is due. The first call only starts the schedule.
  bool due(Nanos now);
  /// Time of the next report. Negative: the schedule has not started.
  [[nodiscard]] Nanos next() const { return next_; }

  struct Facts {
    std::optional<SenderInfo> sent;  // empty: no RTP sent since the last report
    std::optional<uint32_t> peer_ssrc;
    ReceptionSummary reception;
    /// VoIP metrics (RFC 3611), for peers that request them.
    std::optional<VoipMetrics> metrics;
    bool bye = false;
  };
  /// Returns a compound packet as sent on the wire: SR or RR, SDES with CNAME, and BYE when the leg ends.
  /// Valid as long as packets of PacketRoom.
  Bytes report(const Facts& facts, Nanos now);

  /// Processes a received report. Returns false if it is invalid.
  bool receive(Bytes datagram, Nanos arrival);
  /// Last report of the peer about our stream.
  [[nodiscard]] const std::optional<ReportBlock>& about_us() const { return about_us_; }
  [[nodiscard]] const std::optional<VoipMetrics>& metrics_about_us() const { return metrics_about_us_; }
  [[nodiscard]] std::optional<double> round_trip_ms() const { return round_trip_ms_; }

  /// Updates the loss estimate from our own reception. Call once between two reports. Until the peer reports,
  /// loss is assumed to be equal in both directions.
  void watch(const ReceptionSummary& reception, Nanos now);
  /// Last nonzero loss rate of our stream in percent. 0 initially and after kLossRemembered without loss.
  [[nodiscard]] int loss_percent(Nanos now) const;
  /// Time for which a loss rate is kept. Losses come in bursts, so some loss-free reports mean little.
  static constexpr Nanos kLossRemembered = 30 * kSecond;
  /// Age from which a sender report is no longer answered. The delay since it would not fit into its 32 bits.
  static constexpr Nanos kOldestAnswered = 65'536 * kSecond;

 private:
  void note_loss(uint8_t fraction, Nanos now);
  ReportBlock block_of(const Facts& facts, Nanos now);

  PacketProtection* protection_;
  uint32_t ssrc_;
  uint32_t random_;
  Nanos next_ = kNever;
  uint64_t expected_before_ = 0;
  uint64_t received_before_ = 0;
  // Totals at the last watch() call.
  uint64_t expected_seen_ = 0;
  uint64_t lost_seen_ = 0;
  // Last nonzero loss fraction in 1/256, and its time.
  uint8_t fraction_lost_ = 0;
  Nanos loss_told_ = kNever;
  std::optional<uint32_t> last_sr_;
  uint32_t last_sr_sender_ = 0;
  Nanos last_sr_arrival_{};
  std::optional<double> round_trip_ms_;
  std::optional<ReportBlock> about_us_;
  std::optional<VoipMetrics> metrics_about_us_;
};

}  // namespace carillon
