// RTP packets (RFC 3550 §5.1): validated view of received packets, and the header of outgoing ones.
#pragma once

#include <array>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/units.hpp"

namespace carillon {

inline constexpr size_t kRtpHeaderBytes = 12;
/// Static payload type (RFC 3389 §5), on a clock of 8000 Hz.
inline constexpr uint8_t kComfortNoise = 13;
inline constexpr RtpClockRate kComfortNoiseClock{8000};

struct RtpPacket {
  bool marker = false;
  uint8_t payload_type = 0;
  uint16_t sequence = 0;
  RtpTimestamp timestamp;
  uint32_t ssrc = 0;
  /// View of the received payload, without CSRC list, extension and padding.
  Bytes payload;
};

/// Returns nullopt if the datagram is not a well-formed RTP packet: wrong version, truncated lists or invalid
/// padding. The same applies to RTCP packets on a shared port (RFC 5761 §4, payload types 64-95).
std::optional<RtpPacket> parse_rtp(Bytes datagram);

struct RtpHeader {
  bool marker = false;
  uint8_t payload_type = 0;
  uint16_t sequence = 0;
  RtpTimestamp timestamp;
  uint32_t ssrc = 0;
};

/// Writes the header. `out` must hold at least kRtpHeaderBytes bytes.
void write_rtp_header(const RtpHeader& header, std::span<uint8_t> out);

}  // namespace carillon
