#include "core/rtp/packet.hpp"

namespace carillon {

namespace {
constexpr uint8_t kVersionBits = 0x80;
constexpr uint8_t kVersionMask = 0xc0;
constexpr uint8_t kPaddingBit = 0x20;
constexpr uint8_t kExtensionBit = 0x10;
constexpr uint8_t kCsrcCountMask = 0x0f;
constexpr uint8_t kMarkerBit = 0x80;
constexpr uint8_t kPayloadTypeMask = 0x7f;

/// RTP payload types that are RTCP packet types without the marker bit (RFC 5761 §4).
constexpr bool is_rtcp_type(uint8_t type) { return type >= 64 && type <= 95; }
}  // namespace

std::optional<RtpPacket> parse_rtp(Bytes datagram) {
  if (datagram.size() < kRtpHeaderBytes) return std::nullopt;
  const uint8_t first = datagram[0];
  if ((first & kVersionMask) != kVersionBits) return std::nullopt;

  RtpPacket packet;
  packet.marker = (datagram[1] & kMarkerBit) != 0;
  packet.payload_type = datagram[1] & kPayloadTypeMask;
  if (is_rtcp_type(packet.payload_type)) return std::nullopt;
  packet.sequence = read_u16(datagram, 2);
  packet.timestamp = RtpTimestamp(read_u32(datagram, 4));
  packet.ssrc = read_u32(datagram, 8);

  size_t start = kRtpHeaderBytes + size_t{4} * (first & kCsrcCountMask);
  if ((first & kExtensionBit) != 0) {
    if (datagram.size() < start + 4) return std::nullopt;
    start += 4 + size_t{4} * read_u16(datagram, start + 2);
  }
  if (datagram.size() < start) return std::nullopt;

  size_t end = datagram.size();
  if ((first & kPaddingBit) != 0) {
    const size_t padding = datagram[end - 1];
    if (padding == 0 || padding > end - start) return std::nullopt;
    end -= padding;
  }
  packet.payload = datagram.subspan(start, end - start);
  return packet;
}

void write_rtp_header(const RtpHeader& header, std::span<uint8_t> out) {
  out[0] = kVersionBits;
  out[1] = static_cast<uint8_t>((header.marker ? kMarkerBit : 0) | (header.payload_type & kPayloadTypeMask));
  write_u16(out, 2, header.sequence);
  write_u32(out, 4, header.timestamp.value());
  write_u32(out, 8, header.ssrc);
}

}  // namespace carillon
