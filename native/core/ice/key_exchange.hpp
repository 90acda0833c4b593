// Interface of the key exchange (DTLS-SRTP) over the legs' media ports. It runs outside the media thread,
// because a handshake takes longer than a tick.
#pragma once

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
#include "core/base/handles.hpp"

namespace carillon {

class KeyExchange {
 public:
  virtual ~KeyExchange() = default;
  /// Receives a key exchange datagram from an address that the peer has validated.
  virtual void received(LegHandle leg, Bytes datagram) = 0;
  /// Reports that datagrams can be sent to the peer at this address.
  virtual void reachable(LegHandle leg, const Address& peer) = 0;
  /// Reports that a command did not find its leg, which may have moved to another media thread.
  virtual void unmet() {}
};

/// Protocol of a datagram on a shared port (RFC 7983 §7; RTCP as in RFC 5761 §4).
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
