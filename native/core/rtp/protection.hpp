// Packet protection interface: none, or SRTP (core/srtp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace carillon {

/// Packet protection of one leg in both directions. Works in place; one call per packet.
class PacketProtection {
 public:
  /// Maximum growth of a packet in bytes: the longest SRTP tag (16), the SRTCP index (4) and an MKI.
  static constexpr size_t kMaxTail = 32;

  virtual ~PacketProtection() = default;

  /// Returns the original packet within `datagram`. Returns an empty span if it is not authentic; it must
  /// then be dropped without any side effect.
  virtual std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) = 0;
  virtual std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) = 0;

  /// `buffer` starts with a packet of `size` bytes, followed by kMaxTail bytes of space. Returns the size on
  /// the wire.
  virtual size_t protect_rtp(std::span<uint8_t> buffer, size_t size) = 0;
  virtual size_t protect_rtcp(std::span<uint8_t> buffer, size_t size) = 0;

  /// Returns true while keys are missing. Received packets then do not count as invalid.
  [[nodiscard]] virtual bool awaits_keys() const { return false; }

  /// Number of leading bytes that each packet needs. Prefetch them before the hints below.
  [[nodiscard]] virtual size_t hot_bytes() const { return sizeof(PacketProtection); }
  /// Hints: a packet will be protected or unprotected soon.
  virtual void expect_protect() const {}
  virtual void expect_unprotect() const {}

  /// Replaces `before` and takes over the state that continues.
  virtual void follow(PacketProtection& before) = 0;
};

/// Plain RTP without protection.
class NoProtection final : public PacketProtection {
 public:
  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) override { return datagram; }
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) override { return datagram; }
  size_t protect_rtp(std::span<uint8_t> /*buffer*/, size_t size) override { return size; }
  size_t protect_rtcp(std::span<uint8_t> /*buffer*/, size_t size) override { return size; }
  void follow(PacketProtection& /*before*/) override {}
};

/// Placeholder while keys are being negotiated. Drops all packets in both directions.
class AwaitedProtection final : public PacketProtection {
 public:
  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> /*datagram*/) override { return {}; }
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> /*datagram*/) override { return {}; }
  size_t protect_rtp(std::span<uint8_t> /*buffer*/, size_t /*size*/) override { return 0; }
  size_t protect_rtcp(std::span<uint8_t> /*buffer*/, size_t /*size*/) override { return 0; }
  [[nodiscard]] bool awaits_keys() const override { return true; }
  void follow(PacketProtection& /*before*/) override {}
};

}  // namespace carillon
