// Symmetric RTP without RTP bleed: where a leg's peer really is (RFC 4961; the dangers are those of RFC 7362
// §5).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/address.hpp"
#include "core/base/events.hpp"
#include "core/base/units.hpp"

namespace carillon {

/// What signalling says of the peer.
struct ExpectedSource {
  /// The address of the SDP.
  Address signalled;
  /// Where the signalling comes from (the port means nothing): a peer behind a NAT mostly shares it.
  Address signalling;
  /// False on hold: the peer's silence means nothing.
  bool receiving = true;
  /// The address of the SDP where nothing may be sent on the word of the SDP alone (the port means nothing):
  /// `signalled` is empty then. RTP from there is accepted.
  Address described;
  /// RTP from hosts other than those of the SDP and the signalling is accepted (`rtp.acceptOtherSources`).
  bool accepts_others = false;
};

/// The address of the SDP is believed with its first packet, at any time, and takes the leg back from anyone.
/// Another source (a NAT's) is a candidate: it must send a consistent stream for a while, whatever others
/// send in the meantime. Candidates are only sources whose host the signalling or the SDP names; the port may
/// differ. Other hosts need `accepts_others`, and then wait for kPreference. Where the SDP names the very
/// host that the signalling comes from, no other host is ever accepted. Once a source is believed, another
/// takes its place only
///  - when it continues the very same stream, which ended elsewhere (a NAT that changed its mapping): nobody
///    who did not see that stream can know its numbers;
///  - when the source was only learned, and the other one is at a host that signalling names;
///  - when the source was only learned and has been silent for long.
class SourceLearner {
 public:
  /// Consistent packets, and the time that they span at least.
  struct Proof {
    int packets;
    Nanos span;
  };
  static constexpr Proof kProof{10, 150 * kMillisecond};
  /// Of a candidate at the host that the signalling comes from while the SDP names another: a plain NAT.
  static constexpr Proof kProofOfNat{4, 50 * kMillisecond};
  /// Of the source that was believed before the SDP changed: its last packets are on their way for a while.
  static constexpr Nanos kProofOfFormer = 500 * kMillisecond;
  /// Time after a new description before other hosts than those of the signalling and the SDP are accepted.
  static constexpr Nanos kPreference = 3 * kSecond;
  /// The believed source is silent for so long: longer than any packet time.
  static constexpr Nanos kSilent = 200 * kMillisecond;
  /// A learned source gives way after a silence as long as it had been heard, within these bounds. What a
  /// candidate has sent meanwhile counts against it.
  static constexpr Nanos kShortestPatience = kSecond;
  static constexpr Nanos kLongestPatience = 30 * kSecond;
  /// Candidates that are followed at a time; of more, those with the least proof are forgotten. So many that
  /// the first packet of a stream is mostly still known when the second one comes, under four thousand
  /// packets a second of ever new sources.
  static constexpr size_t kCandidates = 32;

  SourceLearner();

  /// The clock of the timestamps; at first 8000 Hz.
  void set_clock(RtpClockRate clock) { clock_ = clock; }
  /// First and later negotiations. The same address again changes nothing.
  void expect(const ExpectedSource& expected, Nanos now);

  /// A well-formed packet with a negotiated payload type.
  struct Packet {
    Address source;
    uint32_t ssrc = 0;
    uint16_t sequence = 0;
    uint32_t timestamp = 0;
    /// False for telephone-event, whose timestamp stands still.
    bool timestamp_runs = true;
  };
  struct Verdict {
    bool from_peer = false;
    /// The peer is at another address than the packets before, or than the SDP says.
    std::optional<SourceChange> change;
  };
  Verdict accept(const Packet& packet, Nanos now);

  /// Where to send: the believed source, until then the signalled address.
  [[nodiscard]] const Address& target() const { return believed_ ? source_ : expected_.signalled; }
  [[nodiscard]] const Address& signalled() const { return expected_.signalled; }
  [[nodiscard]] bool is_peer(const Address& source) const { return believed_ && source == source_; }
  [[nodiscard]] bool believed() const { return believed_; }
  /// Nobody else needs to be heard: the peer is where the SDP says, and it speaks.
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
  /// Believed under the description before; nothing: there was none.
  Address former_;
  Address source_;
  Seen last_;
  Nanos believed_since_{};
  Nanos listening_since_{};
  /// When the present address was signalled.
  Nanos described_at_ = kNever;
  bool believed_ = false;
  uint32_t random_ = 1;
  /// Seldom looked at, so kept apart from what every packet needs.
  std::unique_ptr<std::array<Candidate, kCandidates>> candidates_;
};

}  // namespace carillon
