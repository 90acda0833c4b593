// SRTP and SRTCP (RFC 3711, RFC 7714) of one leg, with the keys of its session description (RFC 4568).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/prefetch.hpp"
#include "core/rtp/protection.hpp"
#include "core/srtp/packet_cipher.hpp"
#include "core/srtp/packet_history.hpp"

namespace carillon {

/// Hint: the cipher, if there is one, will be used soon.
inline void expect_cipher(const PacketCipher* cipher, const PacketCipher::Memory& more) {
  constexpr size_t kCipherBytes = 2 * kCacheLine;
  constexpr size_t kMoreBytes = 3 * kCacheLine;
  prefetch(cipher, kCipherBytes);
  for (const void* const at : more) {
    if (at != nullptr) prefetch(at, kMoreBytes);
  }
}

/// What we send under one key.
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
  // What every packet needs comes first.
  CipherPair ciphers_;
  PacketCipher::Memory memory_;
  SrtpSizes sizes_;
  ReplayWindow sent_;
  uint32_t rtcp_index_ = 0;
  SrtpKeys keys_;
};

/// What the peer sends under one key.
class SrtpReceiver {
 public:
  /// Sources whose past is kept; the one that was silent for longest is forgotten for a new one.
  static constexpr size_t kMaxSources = 4;

  SrtpReceiver(const SrtpKeys& keys, MakeCiphers make);
  [[nodiscard]] bool works() const { return ciphers_.rtp != nullptr && ciphers_.rtcp != nullptr; }
  [[nodiscard]] const SrtpKeys& keys() const { return keys_; }
  /// Empty, and the datagram as it was: not authentic under this key, or a replay.
  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram);
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram);
  /// Hint: a packet will come soon.
  void expect() const { expect_cipher(ciphers_.rtp.get(), memory_); }

 private:
  struct Source {
    uint32_t ssrc = 0;
    uint64_t used = 0;  // 0: never
    ReplayWindow rtp;
    ReplayWindow rtcp;
  };
  Source* find(uint32_t ssrc);
  Source& take(uint32_t ssrc);

  // What every packet needs comes first.
  CipherPair ciphers_;
  PacketCipher::Memory memory_;
  SrtpSizes sizes_;
  size_t mki_bytes_;
  uint64_t uses_ = 0;
  std::array<Source, kMaxSources> sources_;
  SrtpKeys keys_;
};

/// Legs are many and their memory is far away: both directions stand in it, and what their packets need
/// stands at its beginning.
class alignas(kCacheLine) SrtpProtection final : public PacketProtection {
 public:
  /// `send`: our key; `receive`: the peer's.
  SrtpProtection(const SrtpKeys& send, const SrtpKeys& receive, MakeCiphers make);
  /// False: the cryptography is not to be had.
  [[nodiscard]] bool works() const { return sender_.works() && receiver_.works(); }

  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) override;
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) override;
  size_t protect_rtp(std::span<uint8_t> buffer, size_t size) override {
    return sender_.protect_rtp(buffer, size);
  }
  size_t protect_rtcp(std::span<uint8_t> buffer, size_t size) override {
    return sender_.protect_rtcp(buffer, size);
  }
  /// A direction whose key stays goes on counting where it was: the same key must never protect two packets
  /// of one index. Under the peer's former key packets are believed until the first under the new one.
  void follow(PacketProtection& before) override;
  [[nodiscard]] size_t hot_bytes() const override { return kHotBytes; }
  void expect_protect() const override { sender_.expect(); }
  void expect_unprotect() const override { receiver_.expect(); }

 private:
  /// The end of what packets need, where nothing comes under a former key.
  static constexpr size_t kHotBytes = 4 * kCacheLine;

  bool has_former_ = false;
  SrtpSender sender_;
  SrtpReceiver receiver_;
  std::optional<SrtpReceiver> former_;
};

}  // namespace carillon
