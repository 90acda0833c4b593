// The memory in which packets are written.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/rtp/packet.hpp"
#include "core/rtp/protection.hpp"

namespace carillon {

/// Of a thread, not of a leg: a packet leaves at once, or with a batch of its tick, and what every leg would
/// have of its own would be far away each time.
class PacketRoom {
 public:
  /// A packet stands until so many more have been begun on its thread, itself among them.
  static constexpr size_t kRooms = 32;
  /// Of any codec: 40 ms of L16 at 16 kHz.
  static constexpr size_t kLongestPayload = 1280;
  static constexpr size_t kBytes = kRtpHeaderBytes + kLongestPayload + PacketProtection::kMaxTail;

  static std::span<uint8_t, kBytes> next();
};

}  // namespace carillon
