// Who negotiates the keys of legs over the legs' own ports (DTLS-SRTP): apart from the media thread, because
// a handshake takes longer than a tick may.
#pragma once

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
#include "core/base/handles.hpp"

namespace carillon {

class KeyExchange {
 public:
  virtual ~KeyExchange() = default;
  /// A datagram of the exchange, from an address that the peer has proved to have.
  virtual void received(LegHandle leg, Bytes datagram) = 0;
  /// The peer can be sent to there from now on.
  virtual void reachable(LegHandle leg, const Address& peer) = 0;
  /// What was to be done at a leg has not found it: it may have gone to another media thread.
  virtual void unmet() {}
};

/// What a datagram is, where several protocols share a port (RFC 7983 §7; RTCP as in RFC 5761 §4).
enum class Muxed : uint8_t { stun, dtls, rtp, rtcp, unknown };

inline Muxed muxed_kind(Bytes datagram) {
  if (datagram.size() < 2) return Muxed::unknown;
  const uint8_t first = datagram[0];
  if (first < 4) return Muxed::stun;
  if (first >= 20 && first < 64) return Muxed::dtls;
  if (first < 128 || first > 191) return Muxed::unknown;
  return datagram[1] >= 192 && datagram[1] <= 223 ? Muxed::rtcp : Muxed::rtp;
}

}  // namespace carillon
