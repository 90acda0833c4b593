#include "core/srtp/srtp_protection.hpp"

#include <algorithm>
#include <utility>

#include "core/rtp/packet.hpp"

namespace carillon {

namespace {

constexpr uint8_t kCsrcCountMask = 0x0f;
constexpr uint8_t kExtensionBit = 0x10;
constexpr size_t kRtcpHeaderBytes = 8;
constexpr size_t kRtcpIndexBytes = 4;
constexpr uint32_t kEncryptedBit = 0x8000'0000;

/// Returns the offset of an RTP packet's payload, or 0 if the packet is invalid.
size_t rtp_body(Bytes packet) {
  if (packet.size() < kRtpHeaderBytes || (packet[0] & 0xc0) != 0x80) return 0;
  size_t at = kRtpHeaderBytes + size_t{4} * (packet[0] & kCsrcCountMask);
  if ((packet[0] & kExtensionBit) != 0) {
    if (packet.size() < at + 4) return 0;
    at += 4 + size_t{4} * read_u16(packet, at + 2);
  }
  return at > packet.size() ? 0 : at;
}

/// The rollover counter as authenticated data (RFC 3711 §4.2). For an AEAD it is empty, because the nonce
/// contains the counter.
class Rollovers {
 public:
  Rollovers(uint64_t index, bool aead) : used_(!aead) {
    write_u32(bytes_, 0, static_cast<uint32_t>(index >> 16));
  }
  [[nodiscard]] Bytes aad_bytes() const { return used_ ? Bytes(bytes_) : Bytes(); }

 private:
  std::array<uint8_t, 4> bytes_{};
  bool used_;
};

PacketCipher::Memory memory_of(const CipherPair& ciphers) {
  return ciphers.rtp ? ciphers.rtp->memory() : PacketCipher::Memory{};
}

}  // namespace

// ---------------------------------------------------------------- sending

SrtpSender::SrtpSender(const SrtpKeys& keys, MakeCiphers make)
    : ciphers_(make(keys, CipherUse::seal)),
      memory_(memory_of(ciphers_)),
      sizes_(sizes_of(keys.suite)),
      keys_(keys) {}

size_t SrtpSender::protect_rtp(std::span<uint8_t> buffer, size_t size) {
  const size_t body = rtp_body(buffer.first(size));
  if (body == 0) return 0;
  const uint16_t sequence = read_u16(buffer, 2);
  // Relayed packets can be out of order.
  const PacketName name{read_u32(buffer, 8), srtp_index(sent_, sequence)};
  // Two packets with one index would share a keystream (RFC 3711 §9.1). Duplicates and indices older than the
  // window are not sent.
  if (!sent_.fresh(name.index)) return 0;
  sent_.add(name.index);
  const Rollovers rollovers(name.index, sizes_.aead);
  ciphers_.rtp->seal(name, {buffer.first(body), buffer.subspan(body, size - body), rollovers.aad_bytes()},
                     buffer.subspan(size, sizes_.rtp_tag));
  return size + sizes_.rtp_tag;
}

size_t SrtpSender::protect_rtcp(std::span<uint8_t> buffer, size_t size) {
  if (size < kRtcpHeaderBytes) return 0;
  const uint32_t index = rtcp_index_++ & ~kEncryptedBit;
  std::array<uint8_t, kRtcpIndexBytes> word;
  write_u32(word, 0, kEncryptedBit | index);
  // The tag is last in a packet (RFC 3711 §3.4), but an AEAD tag follows the ciphertext (RFC 7714 §9.2).
  const size_t word_at = sizes_.aead ? size + sizes_.rtcp_tag : size;
  const size_t tag_at = sizes_.aead ? size : size + kRtcpIndexBytes;
  ciphers_.rtcp->seal(
      {read_u32(buffer, 4), index},
      {buffer.first(kRtcpHeaderBytes), buffer.subspan(kRtcpHeaderBytes, size - kRtcpHeaderBytes), word},
      buffer.subspan(tag_at, sizes_.rtcp_tag));
  std::ranges::copy(word, buffer.subspan(word_at).begin());
  return size + sizes_.rtcp_tag + kRtcpIndexBytes;
}

// ---------------------------------------------------------------- receiving

SrtpReceiver::SrtpReceiver(const SrtpKeys& keys, MakeCiphers make)
    : ciphers_(make(keys, CipherUse::open)),
      memory_(memory_of(ciphers_)),
      sizes_(sizes_of(keys.suite)),
      mki_bytes_(keys.mki_bytes),
      keys_(keys) {}

SrtpReceiver::Source* SrtpReceiver::find(uint32_t ssrc) {
  const auto found = std::ranges::find_if(
      sources_, [ssrc](const Source& source) { return source.used > 0 && source.ssrc == ssrc; });
  return found == sources_.end() ? nullptr : &*found;
}

/// Returns the entry of a source that has sent an authentic packet; creates it if necessary.
SrtpReceiver::Source& SrtpReceiver::take(uint32_t ssrc) {
  Source* source = find(ssrc);
  if (source == nullptr) {
    source = &*std::ranges::min_element(sources_, {}, &Source::used);
    *source = Source{};
    source->ssrc = ssrc;
  }
  source->used = ++uses_;
  return *source;
}

std::span<uint8_t> SrtpReceiver::unprotect_rtp(std::span<uint8_t> datagram) {
  const size_t tail = sizes_.rtp_tag + mki_bytes_;
  if (datagram.size() < kRtpHeaderBytes + tail) return {};
  const std::span<uint8_t> packet = datagram.first(datagram.size() - tail);
  const size_t body = rtp_body(packet);
  if (body == 0) return {};
  const uint32_t ssrc = read_u32(packet, 8);
  const Source* source = find(ssrc);
  const ReplayWindow seen = source == nullptr ? ReplayWindow() : source->rtp;
  const uint64_t index = srtp_index(seen, read_u16(packet, 2));
  if (!seen.fresh(index)) return {};
  const Rollovers rollovers(index, sizes_.aead);
  // An AEAD tag precedes the MKI (RFC 7714 §8.2); other tags follow it (RFC 3711 §3.1).
  const Bytes tag = sizes_.aead ? Bytes(datagram).subspan(packet.size(), sizes_.rtp_tag)
                                : Bytes(datagram).last(sizes_.rtp_tag);
  const PacketParts parts{packet.first(body), packet.subspan(body), rollovers.aad_bytes()};
  if (!ciphers_.rtp->open({ssrc, index}, parts, tag)) return {};
  take(ssrc).rtp.add(index);
  return packet;
}

std::span<uint8_t> SrtpReceiver::unprotect_rtcp(std::span<uint8_t> datagram) {
  const size_t tail = sizes_.rtcp_tag + kRtcpIndexBytes + mki_bytes_;
  if (datagram.size() < kRtcpHeaderBytes + tail) return {};
  const std::span<uint8_t> packet = datagram.first(datagram.size() - tail);
  const size_t word_at = packet.size() + (sizes_.aead ? sizes_.rtcp_tag : 0);
  const Bytes word = Bytes(datagram).subspan(word_at, kRtcpIndexBytes);
  const uint32_t marked = read_u32(word, 0);
  // Unencrypted SRTCP was not negotiated, so it is rejected (RFC 4568 §6.3.2).
  if ((marked & kEncryptedBit) == 0) return {};
  const uint32_t ssrc = read_u32(packet, 4);
  const uint32_t index = marked & ~kEncryptedBit;
  const Source* source = find(ssrc);
  if (source != nullptr && !source->rtcp.fresh(index)) return {};
  const Bytes tag = sizes_.aead ? Bytes(datagram).subspan(packet.size(), sizes_.rtcp_tag)
                                : Bytes(datagram).last(sizes_.rtcp_tag);
  const PacketParts parts{packet.first(kRtcpHeaderBytes), packet.subspan(kRtcpHeaderBytes), word};
  if (!ciphers_.rtcp->open({ssrc, index}, parts, tag)) return {};
  take(ssrc).rtcp.add(index);
  return packet;
}

// ---------------------------------------------------------------- both

SrtpProtection::SrtpProtection(const SrtpKeys& send, const SrtpKeys& receive, MakeCiphers make)
    : sender_(send, make), receiver_(receive, make) {}

std::span<uint8_t> SrtpProtection::unprotect_rtp(std::span<uint8_t> datagram) {
  const std::span<uint8_t> packet = receiver_.unprotect_rtp(datagram);
  if (!has_former_) return packet;
  if (packet.empty()) return former_->unprotect_rtp(datagram);
  former_.reset();
  has_former_ = false;
  return packet;
}

std::span<uint8_t> SrtpProtection::unprotect_rtcp(std::span<uint8_t> datagram) {
  const std::span<uint8_t> packet = receiver_.unprotect_rtcp(datagram);
  return packet.empty() && has_former_ ? former_->unprotect_rtcp(datagram) : packet;
}

void SrtpProtection::follow(PacketProtection& before) {
  auto* const other = dynamic_cast<SrtpProtection*>(&before);
  if (other == nullptr) return;
  if (other->sender_.keys() == sender_.keys()) std::swap(sender_, other->sender_);
  if (other->receiver_.keys() == receiver_.keys()) {
    std::swap(receiver_, other->receiver_);
    std::swap(former_, other->former_);
  } else {
    former_.emplace(std::move(other->receiver_));
  }
  has_former_ = former_.has_value();
}

std::span<uint8_t> PlainProtection::unprotect_rtp(std::span<uint8_t> datagram) {
  if (plain_left_ == 0) return datagram;
  const std::span<uint8_t> packet = former_->unprotect_rtp(datagram);
  if (!packet.empty()) return packet;
  --plain_left_;
  return datagram;
}

std::span<uint8_t> PlainProtection::unprotect_rtcp(std::span<uint8_t> datagram) {
  if (plain_left_ == 0) return datagram;
  const std::span<uint8_t> packet = former_->unprotect_rtcp(datagram);
  return packet.empty() ? datagram : packet;
}

void PlainProtection::follow(PacketProtection& before) {
  if (auto* const srtp = dynamic_cast<SrtpProtection*>(&before); srtp != nullptr) {
    former_.emplace(srtp->take_receiver());
    plain_left_ = kPlainPackets;
  } else if (auto* const plain = dynamic_cast<PlainProtection*>(&before); plain != nullptr) {
    std::swap(former_, plain->former_);
    std::swap(plain_left_, plain->plain_left_);
  }
}

}  // namespace carillon
