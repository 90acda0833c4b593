// RTCP reports, RFC 3550 §6.4: what we tell a peer of its stream, and what it tells us of ours and of the
// way.
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

/// NTP format (32.32 fixed point) of the engine's clock: RFC 3550 §6.4.1 allows a clock that is not the
/// wall's.
uint64_t ntp_of(Nanos now);

struct SenderInfo {
  uint64_t ntp = 0;
  uint32_t rtp_timestamp = 0;
  uint32_t packets = 0;
  uint32_t octets = 0;
};

struct ReportBlock {
  uint32_t ssrc = 0;  // whose stream is reported on
  uint8_t fraction_lost = 0;
  int32_t cumulative_lost = 0;
  uint32_t highest_sequence = 0;
  uint32_t jitter = 0;
  uint32_t last_sr = 0;
  uint32_t delay_since_last_sr = 0;  // 1/65536 s
};

/// What a compound packet says that concerns us.
struct RtcpContent {
  /// Middle 32 bits of the NTP timestamp of a sender report.
  std::optional<uint32_t> sender_report;
  /// The last block about `our_ssrc`.
  std::optional<ReportBlock> about_us;
  std::optional<VoipMetrics> metrics_about_us;
};

/// The SSRC of whom a report is from; nothing for what is too short.
std::optional<uint32_t> sender_of_rtcp(Bytes datagram);

/// Nothing for what is no valid compound packet (RFC 3550 A.2).
std::optional<RtcpContent> parse_rtcp(Bytes datagram, uint32_t our_ssrc);

/// One leg's RTCP: when a report is due, what is in it, and the round trip that reports reveal.
class RtcpSession {
 public:
  static constexpr size_t kMaxBytes = 160;
  /// Mean time between reports; each is drawn between half and one and a half of it (RFC 3550 §6.3.1).
  static constexpr Nanos kInterval = 5 * kSecond;

  RtcpSession(PacketProtection& protection, uint32_t ssrc)
      : protection_(&protection), ssrc_(ssrc), random_(ssrc | 1) {}
  void protect_with(PacketProtection& protection) { protection_ = &protection; }

  /// True when a report should be sent now; the first call only starts the clock.
  bool due(Nanos now);
  /// When due() says so next; negative: its clock has not started.
  [[nodiscard]] Nanos next() const { return next_; }

  struct Facts {
    std::optional<SenderInfo> sent;  // nothing: we have sent no RTP since the last report
    std::optional<uint32_t> peer_ssrc;
    ReceptionSummary reception;
    /// For a peer that wants them (RFC 3611).
    std::optional<VoipMetrics> metrics;
    bool bye = false;
  };
  /// A compound packet: SR or RR, SDES with CNAME, BYE when the leg ends; as it goes on the wire. It stands
  /// as PacketRoom's do.
  Bytes report(const Facts& facts, Nanos now);

  /// False for what is no valid report.
  bool receive(Bytes datagram, Nanos arrival);
  /// What the peer said last of our stream.
  [[nodiscard]] const std::optional<ReportBlock>& about_us() const { return about_us_; }
  [[nodiscard]] const std::optional<VoipMetrics>& metrics_about_us() const { return metrics_about_us_; }
  [[nodiscard]] std::optional<double> round_trip_ms() const { return round_trip_ms_; }

  /// Once between two reports: what has come of what the peer sent. As long as it has not said how we are
  /// heard, the way to it is taken for as good as the way from it.
  void watch(const ReceptionSummary& reception, Nanos now);
  /// How much of what we send is lost, in percent, as the peer said last that anything was; 0 once it has not
  /// been for kLossRemembered, and at first.
  [[nodiscard]] int loss_percent(Nanos now) const;
  /// Losses come in spells: some reports without any mean little.
  static constexpr Nanos kLossRemembered = 30 * kSecond;

 private:
  void note_loss(uint8_t fraction, Nanos now);
  ReportBlock block_of(const Facts& facts, Nanos now);

  PacketProtection* protection_;
  uint32_t ssrc_;
  uint32_t random_;
  Nanos next_ = kNever;
  uint64_t expected_before_ = 0;
  uint64_t received_before_ = 0;
  // Of watch().
  uint64_t expected_seen_ = 0;
  uint64_t lost_seen_ = 0;
  // The last that was not 0, in 1/256, and when.
  uint8_t fraction_lost_ = 0;
  Nanos loss_told_ = kNever;
  std::optional<uint32_t> last_sr_;
  Nanos last_sr_arrival_{};
  std::optional<double> round_trip_ms_;
  std::optional<ReportBlock> about_us_;
  std::optional<VoipMetrics> metrics_about_us_;
};

}  // namespace carillon
