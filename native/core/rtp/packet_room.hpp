// Memory for outgoing packets.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/rtp/packet.hpp"
#include "core/rtp/protection.hpp"

namespace carillon {

/// Packet buffers, shared per thread instead of per leg. Packets are sent immediately or with the batch of
/// their tick, and shared buffers stay in the processor cache.
class PacketRoom {
 public:
  /// Number of buffers. Each call of next() reuses the oldest one, which invalidates its packet.
  static constexpr size_t kRooms = 32;
  /// Largest payload in bytes of any codec: 40 ms of L16 at 16 kHz.
  static constexpr size_t kLongestPayload = 1280;
  static constexpr size_t kBytes = kRtpHeaderBytes + kLongestPayload + PacketProtection::kMaxTail;

  static std::span<uint8_t, kBytes> next();
  /// Reuses the buffer of the last next() first, because its packet is not sent or has been sent. Otherwise
  /// the buffers that other legs use without sending would replace packets that wait for their batch.
  static void give_back();
};

}  // namespace carillon
