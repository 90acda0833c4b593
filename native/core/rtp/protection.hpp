// What stands between a packet and the wire: nothing, or SRTP (core/srtp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace carillon {

/// Of one leg, both directions. Works in place; one call a packet.
class PacketProtection {
 public:
  /// What a protected packet may be longer: SRTP's longest tag (16), SRTCP's index (4) and a key identifier.
  static constexpr size_t kMaxTail = 32;

  virtual ~PacketProtection() = default;

  /// The packet as its sender made it, within `datagram`; empty: not authentic, to be dropped before anything
  /// is learned from it.
  virtual std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) = 0;
  virtual std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) = 0;

  /// `buffer` begins with a packet of `size` bytes and has kMaxTail bytes of room behind it. Returns the size
  /// on the wire.
  virtual size_t protect_rtp(std::span<uint8_t> buffer, size_t size) = 0;
  virtual size_t protect_rtcp(std::span<uint8_t> buffer, size_t size) = 0;

  /// Nothing can be opened yet, which is no fault of what comes.
  [[nodiscard]] virtual bool awaits_keys() const { return false; }

  /// So many of its first bytes are what each packet needs: to be prefetched before the hints below.
  [[nodiscard]] virtual size_t hot_bytes() const { return sizeof(PacketProtection); }
  /// Hints: a packet will be protected, or unprotected, soon.
  virtual void expect_protect() const {}
  virtual void expect_unprotect() const {}

  /// Takes the place of `before`, and from it what goes on.
  virtual void follow(PacketProtection& before) = 0;
};

/// Plain RTP.
class NoProtection final : public PacketProtection {
 public:
  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) override { return datagram; }
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) override { return datagram; }
  size_t protect_rtp(std::span<uint8_t> /*buffer*/, size_t size) override { return size; }
  size_t protect_rtcp(std::span<uint8_t> /*buffer*/, size_t size) override { return size; }
  void follow(PacketProtection& /*before*/) override {}
};

/// Keys are still being negotiated: nothing is heard and nothing is said.
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
