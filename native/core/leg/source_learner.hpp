// Symmetric RTP without RTP bleed: where a leg's peer really is (RFC 4961; the dangers are those of RFC 7362
// §5).
#pragma once

#include <cstdint>

#include "core/base/address.hpp"
#include "core/base/time.hpp"

namespace carillon {

/// The address of the SDP is believed at once. Another source (a NAT's) is believed only in the first
/// seconds, and only after four packets in sequence from it with no rival; afterwards every other source is a
/// stranger for good.
class SourceLearner {
 public:
  static constexpr Nanos kWindow = 5 * kSecond;
  static constexpr int kPacketsToBelieve = 4;

  /// A new offer or answer. The same address again changes nothing: a refresh must not reopen the window.
  void expect(const Address& signalled);

  /// A well-formed packet with a negotiated payload type came. True when its source is the peer.
  bool accept(const Address& source, uint16_t sequence, Nanos now);

  /// Where to send: the learned source, until then the signalled address.
  [[nodiscard]] const Address& target() const { return locked_ ? learned_ : signalled_; }
  [[nodiscard]] bool is_peer(const Address& source) const { return locked_ && source == learned_; }
  [[nodiscard]] bool locked() const { return locked_; }

 private:
  bool consider(const Address& source, uint16_t sequence);

  Address signalled_;
  Address learned_;
  Address candidate_;
  uint16_t candidate_sequence_ = 0;
  int candidate_packets_ = 0;
  Nanos window_began_ = -1;
  bool locked_ = false;
};

}  // namespace carillon
