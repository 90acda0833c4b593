// SRTP and SRTCP (RFC 3711, RFC 7714) of one leg, with the keys of its session description (RFC 4568).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/rtp/protection.hpp"
#include "core/srtp/packet_cipher.hpp"
#include "core/srtp/packet_history.hpp"

namespace carillon {

/// Where one direction's packets find what they need. The way there has three steps, each of which would wait
/// for the one before; legs are many and their memory is far away.
struct CipherMemory {
  const void* direction = nullptr;
  const void* cipher = nullptr;
  PacketCipher::Memory more{};

  void prefetch() const;
};

/// What we send under one key.
class SrtpSender {
 public:
  SrtpSender(const SrtpKeys& keys, MakeCiphers make);
  [[nodiscard]] bool works() const { return ciphers_.rtp != nullptr && ciphers_.rtcp != nullptr; }
  [[nodiscard]] const SrtpKeys& keys() const { return keys_; }
  size_t protect_rtp(std::span<uint8_t> buffer, size_t size);
  size_t protect_rtcp(std::span<uint8_t> buffer, size_t size);

  /// What a packet needs.
  [[nodiscard]] CipherMemory memory() const { return {this, ciphers_.rtp.get(), ciphers_.rtp->memory()}; }

 private:
  // What every packet needs comes first.
  CipherPair ciphers_;
  SrtpSizes sizes_;
  uint32_t rtcp_index_ = 0;
  ReplayWindow sent_;
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
  /// What a packet needs.
  [[nodiscard]] CipherMemory memory() const { return {this, ciphers_.rtp.get(), ciphers_.rtp->memory()}; }

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
  SrtpSizes sizes_;
  size_t mki_bytes_;
  uint64_t uses_ = 0;
  std::array<Source, kMaxSources> sources_;
  SrtpKeys keys_;
};

class SrtpProtection final : public PacketProtection {
 public:
  /// `send`: our key; `receive`: the peer's.
  SrtpProtection(const SrtpKeys& send, const SrtpKeys& receive, MakeCiphers make);
  /// False: the cryptography is not to be had.
  [[nodiscard]] bool works() const { return sender_->works() && receiver_->works(); }

  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) override;
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) override;
  size_t protect_rtp(std::span<uint8_t> buffer, size_t size) override {
    return sender_->protect_rtp(buffer, size);
  }
  size_t protect_rtcp(std::span<uint8_t> buffer, size_t size) override {
    return sender_->protect_rtcp(buffer, size);
  }
  /// A direction whose key stays goes on counting where it was: the same key must never protect two packets
  /// of one index. Under the peer's former key packets are believed until the first under the new one.
  void follow(PacketProtection& before) override;
  void expect_protect() const override { send_memory_.prefetch(); }
  void expect_unprotect() const override { receive_memory_.prefetch(); }

 private:
  void note_memory();

  CipherMemory send_memory_;
  CipherMemory receive_memory_;
  std::unique_ptr<SrtpSender> sender_;
  std::unique_ptr<SrtpReceiver> receiver_;
  std::unique_ptr<SrtpReceiver> former_;
};

}  // namespace carillon
