// SRTP and SRTCP (RFC 3711, RFC 7714) of one leg, with keys from the session description (RFC 4568).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/prefetch.hpp"
#include "core/rtp/protection.hpp"
#include "core/srtp/packet_cipher.hpp"
#include "core/srtp/packet_history.hpp"

namespace carillon {

/// Hint: the cipher, if present, will be used soon.
inline void expect_cipher(const PacketCipher* cipher, const PacketCipher::Memory& more) {
  constexpr size_t kCipherBytes = 2 * kCacheLine;
  constexpr size_t kMoreBytes = 3 * kCacheLine;
  prefetch(cipher, kCipherBytes);
  for (const void* const at : more) {
    if (at != nullptr) prefetch(at, kMoreBytes);
  }
}

/// Protects outgoing packets under one key.
class SrtpSender {
 public:
  SrtpSender(const SrtpKeys& keys, MakeCiphers make);
  [[nodiscard]] bool works() const { return ciphers_.rtp != nullptr && ciphers_.rtcp != nullptr; }
  [[nodiscard]] const SrtpKeys& keys() const { return keys_; }
  size_t protect_rtp(std::span<uint8_t> buffer, size_t size);
  size_t protect_rtcp(std::span<uint8_t> buffer, size_t size);

  /// Hint: a packet will be protected soon.
  void expect() const { expect_cipher(ciphers_.rtp.get(), memory_); }

 private:
  // Members that every packet needs come first.
  CipherPair ciphers_;
  PacketCipher::Memory memory_;
  SrtpSizes sizes_;
  ReplayWindow sent_;
  uint32_t rtcp_index_ = 0;
  SrtpKeys keys_;
};

/// Unprotects incoming packets under one key.
class SrtpReceiver {
 public:
  /// Maximum number of tracked sources. A new source evicts the one that was silent longest.
  static constexpr size_t kMaxSources = 4;

  SrtpReceiver(const SrtpKeys& keys, MakeCiphers make);
  [[nodiscard]] bool works() const { return ciphers_.rtp != nullptr && ciphers_.rtcp != nullptr; }
  [[nodiscard]] const SrtpKeys& keys() const { return keys_; }
  /// Returns the packet. Returns an empty span and leaves the datagram unchanged if it is not authentic under
  /// this key or is a replay.
  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram);
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram);
  /// Hint: a packet will be unprotected soon.
  void expect() const { expect_cipher(ciphers_.rtp.get(), memory_); }

 private:
  struct Source {
    uint32_t ssrc = 0;
    uint64_t used = 0;  // 0: unused
    ReplayWindow rtp;
    ReplayWindow rtcp;
  };
  Source* find(uint32_t ssrc);
  Source& take(uint32_t ssrc);

  // Members that every packet needs come first.
  CipherPair ciphers_;
  PacketCipher::Memory memory_;
  SrtpSizes sizes_;
  size_t mki_bytes_;
  uint64_t uses_ = 0;
  std::array<Source, kMaxSources> sources_;
  SrtpKeys keys_;
};

/// Both directions are stored inline, with the data for packets at the beginning, because the memory of a leg
/// is usually not cached.
class alignas(kCacheLine) SrtpProtection final : public PacketProtection {
 public:
  /// `send`: our key; `receive`: the peer's key.
  SrtpProtection(const SrtpKeys& send, const SrtpKeys& receive, MakeCiphers make);
  /// Returns false if the cryptography is unavailable.
  [[nodiscard]] bool works() const { return sender_.works() && receiver_.works(); }

  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) override;
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) override;
  size_t protect_rtp(std::span<uint8_t> buffer, size_t size) override {
    return sender_.protect_rtp(buffer, size);
  }
  size_t protect_rtcp(std::span<uint8_t> buffer, size_t size) override {
    return sender_.protect_rtcp(buffer, size);
  }
  /// Takes over state after a new negotiation. A direction with an unchanged key keeps its packet index,
  /// because a key must never protect two packets with one index. The peer's previous key stays valid until
  /// the first packet under the new one.
  void follow(PacketProtection& before) override;
  /// Returns the receiver under the peer's key. The object must not be used afterwards.
  SrtpReceiver take_receiver() { return std::move(receiver_); }
  [[nodiscard]] size_t hot_bytes() const override { return kHotBytes; }
  void expect_protect() const override { sender_.expect(); }
  void expect_unprotect() const override { receiver_.expect(); }

 private:
  /// Size of the part that packets need, unless the peer's previous key is in use.
  static constexpr size_t kHotBytes = 4 * kCacheLine;

  bool has_former_ = false;
  SrtpSender sender_;
  SrtpReceiver receiver_;
  std::optional<SrtpReceiver> former_;
};

/// Plain RTP of a leg that may have had SRTP before. Until the peer knows the change, it sends packets under
/// its former key, which would be audible as noise.
class PlainProtection final : public PacketProtection {
 public:
  /// Number of packets without protection after which no packet under the former key is expected.
  static constexpr uint32_t kPlainPackets = 50;

  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) override;
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) override;
  size_t protect_rtp(std::span<uint8_t> /*buffer*/, size_t size) override { return size; }
  size_t protect_rtcp(std::span<uint8_t> /*buffer*/, size_t size) override { return size; }
  void follow(PacketProtection& before) override;

 private:
  uint32_t plain_left_ = 0;
  std::optional<SrtpReceiver> former_;
};

}  // namespace carillon
