// Symmetric RTP (RFC 4961): determines the peer's actual address, with protection against RTP injection (RFC
// 7362 §5).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/address.hpp"
#include "core/base/events.hpp"
#include "core/base/units.hpp"

namespace carillon {

/// Peer addresses known from signalling.
struct ExpectedSource {
  /// RTP address in the SDP.
  Address signalled;
  /// Source address of the signalling; the port is ignored. A peer behind a NAT usually shares it.
  Address signalling;
  /// False on hold: silence of the peer has no meaning.
  bool receiving = true;
  /// Address in the SDP when policy forbids sending to it based on the SDP alone; the port is ignored.
  /// `signalled` is then empty. RTP from this address is accepted.
  Address described;
  /// Accept RTP from hosts other than those of the SDP and the signalling (`rtp.acceptOtherSources`).
  /// Default: false.
  bool accepts_others = false;
};

/// Selects the RTP source.
///
/// The SDP address is accepted with its first packet at any time and replaces any other source. Any other
/// source, such as a NAT mapping, is a candidate. It must send a consistent stream for a while, regardless of
/// packets from others. Only hosts named by the signalling or the SDP are candidates; the port may differ.
/// Other hosts need `accepts_others` and then wait for kPreference. If the SDP names the signalling host, no
/// other host is accepted. Once a source is accepted, another replaces it only
/// - if it continues the same stream, which ended at the old address (a changed NAT mapping): an attacker
///   without access to the stream cannot know its sequence numbers;
/// - if the accepted source was learned, and the other is at a host that signalling names;
/// - if the accepted source was learned and has been silent for long.
class SourceLearner {
 public:
  /// Number of consistent packets and the minimum time they span.
  struct Proof {
    int packets;
    Nanos span;
  };
  static constexpr Proof kProof{10, 150 * kMillisecond};
  /// Proof for a candidate at the signalling host when the SDP names another host: a plain NAT.
  static constexpr Proof kProofOfNat{4, 50 * kMillisecond};
  /// Minimum span for the source that was accepted before an SDP change: its last packets may still be in
  /// flight.
  static constexpr Nanos kProofOfFormer = 500 * kMillisecond;
  /// Delay after a new description before hosts other than those of the signalling and the SDP are accepted.
  static constexpr Nanos kPreference = 3 * kSecond;
  /// Time without packets after which the accepted source counts as silent. Longer than any packet time.
  static constexpr Nanos kSilent = 200 * kMillisecond;
  /// Bounds of the silence after which a learned source is replaced. Within them, the silence must be as long
  /// as the source was heard, minus the time for which the candidate has been sending.
  static constexpr Nanos kShortestPatience = kSecond;
  static constexpr Nanos kLongestPatience = 30 * kSecond;
  /// Maximum number of candidates. The ones with the least proof are evicted first. The size keeps a stream's
  /// first packet known until its second arrives, at up to 4,000 packets/s from new sources.
  static constexpr size_t kCandidates = 32;

  SourceLearner();

  /// Sets the RTP clock. Default: 8000 Hz.
  void set_clock(RtpClockRate clock) { clock_ = clock; }
  /// Applies an initial or later negotiation. An unchanged address has no effect.
  void expect(const ExpectedSource& expected, Nanos now);

  /// Well-formed packet with a negotiated payload type.
  struct Packet {
    Address source;
    uint32_t ssrc = 0;
    uint16_t sequence = 0;
    uint32_t timestamp = 0;
    /// False for telephone-event, whose timestamp does not advance.
    bool timestamp_runs = true;
  };
  struct Verdict {
    bool from_peer = false;
    /// True for the first packet from a signalled address. Signalling announced this stream.
    bool announced = false;
    /// Set if the peer's address differs from that of earlier packets or of the SDP.
    std::optional<SourceChange> change;
  };
  Verdict accept(const Packet& packet, Nanos now);

  /// Destination address: the accepted source, or the signalled address until one is accepted.
  [[nodiscard]] const Address& target() const { return believed_ ? source_ : expected_.signalled; }
  [[nodiscard]] const Address& signalled() const { return expected_.signalled; }
  [[nodiscard]] bool is_peer(const Address& source) const { return believed_ && source == source_; }
  [[nodiscard]] bool believed() const { return believed_; }
  /// Returns true if the peer is active at the SDP address, so other sources can be ignored.
  [[nodiscard]] bool settled(Nanos now) const {
    return believed_ && source_ == expected_.signalled && now - last_.at < kSilent;
  }

 private:
  struct Seen {
    uint32_t ssrc = 0;
    uint32_t timestamp = 0;
    Nanos at = kNever;
    uint16_t sequence = 0;
  };
  struct Candidate {
    Address source;
    int packets = 0;
    Seen last;
    Nanos since{};
  };

  [[nodiscard]] Seen seen(const Packet& packet, const Seen& last, Nanos now) const;
  Candidate& candidate_of(const Packet& packet);
  void follow(Candidate& candidate, const Packet& packet, Nanos now) const;
  [[nodiscard]] bool proven(const Candidate& candidate) const;
  [[nodiscard]] bool continues(const Candidate& candidate) const;
  [[nodiscard]] bool known_host(const Address& source) const;
  [[nodiscard]] bool behind_nat(const Address& source) const;
  [[nodiscard]] bool may_be_peer(const Address& source, Nanos now) const;
  [[nodiscard]] std::optional<SourceChange> reason_to_believe(const Candidate& candidate, Nanos now) const;
  void believe(const Packet& packet, Nanos now);

  RtpClockRate clock_{8000};
  ExpectedSource expected_;
  /// Source accepted under the previous description, or empty.
  Address former_;
  Address source_;
  Seen last_;
  Nanos believed_since_{};
  Nanos listening_since_{};
  /// Time at which the current address was signalled.
  Nanos described_at_ = kNever;
  bool believed_ = false;
  uint32_t random_ = 1;
  /// Rarely accessed, so stored outside the data that every packet needs.
  std::unique_ptr<std::array<Candidate, kCandidates>> candidates_;
};

}  // namespace carillon
