#include "core/ice/stun.hpp"

#include <algorithm>

namespace carillon {

namespace {

constexpr size_t kHeaderBytes = 20;
constexpr size_t kAttributeHeaderBytes = 4;
constexpr size_t kIntegrityBytes = 20;
constexpr size_t kFingerprintBytes = 4;
constexpr uint32_t kMagicCookie = 0x2112A442;
constexpr uint32_t kFingerprintMask = 0x5354554e;

constexpr uint16_t kBindingRequest = 0x0001;
constexpr uint16_t kBindingIndication = 0x0011;
constexpr uint16_t kBindingSuccess = 0x0101;
constexpr uint16_t kBindingError = 0x0111;

constexpr uint16_t kUsername = 0x0006;
constexpr uint16_t kMessageIntegrity = 0x0008;
constexpr uint16_t kErrorCode = 0x0009;
constexpr uint16_t kUnknownAttributes = 0x000A;
constexpr uint16_t kXorMappedAddress = 0x0020;
constexpr uint16_t kPriority = 0x0024;
constexpr uint16_t kUseCandidate = 0x0025;
constexpr uint16_t kFingerprint = 0x8028;
/// First comprehension-optional attribute type.
constexpr uint16_t kOptional = 0x8000;

constexpr size_t padded(size_t bytes) { return (bytes + 3) / 4 * 4; }

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0);
    table[i] = value;
  }
  return table;
}

/// CRC-32 (ITU V.42).
uint32_t crc32(Bytes bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t value = 0xffffffff;
  for (const uint8_t byte : bytes) value = kTable[(value ^ byte) & 0xff] ^ (value >> 8);
  return ~value;
}

std::optional<StunKind> kind_of(uint16_t type) {
  switch (type) {
    case kBindingRequest:
      return StunKind::request;
    case kBindingIndication:
      return StunKind::indication;
    case kBindingSuccess:
      return StunKind::success;
    case kBindingError:
      return StunKind::error;
    default:
      return std::nullopt;
  }
}

/// Computes MESSAGE-INTEGRITY over the message up to an attribute, with the length field adjusted to end with
/// that attribute (RFC 8489 §14.5, §14.7).
Sha1Digest integrity_of(Bytes datagram, size_t at, std::string_view password, HmacSha1 hmac) {
  std::array<uint8_t, 1500> text;
  std::copy_n(datagram.begin(), at, text.begin());
  write_u16(text, 2, static_cast<uint16_t>(at + kAttributeHeaderBytes + kIntegrityBytes - kHeaderBytes));
  const Bytes key(reinterpret_cast<const uint8_t*>(password.data()), password.size());
  return hmac(key, Bytes(text).first(at));
}

/// Reads one attribute into the message. Returns false if the message is malformed.
bool read_attribute(StunMessage& message, uint16_t type, Bytes value, size_t at) {
  switch (type) {
    case kUsername:
      message.username = {reinterpret_cast<const char*>(value.data()), value.size()};
      return true;
    case kMessageIntegrity:
      message.integrity_at = at;
      return value.size() == kIntegrityBytes;
    case kUseCandidate:
      message.use_candidate = true;
      return true;
    case kPriority:
    case kXorMappedAddress:
    case kErrorCode:
      return true;
    default:
      if (type < kOptional && message.unknown_count < message.unknown.size()) {
        message.unknown[message.unknown_count++] = type;
      }
      return true;
  }
}

/// Appends attributes to a message.
class Writer {
 public:
  Writer(uint16_t type, const StunTransaction& transaction, std::span<uint8_t> out) : out_(out) {
    write_u16(out_, 0, type);
    write_u32(out_, 4, kMagicCookie);
    std::ranges::copy(transaction, out_.subspan(8).begin());
  }

  std::span<uint8_t> attribute(uint16_t type, size_t bytes) {
    write_u16(out_, size_, type);
    write_u16(out_, size_ + 2, static_cast<uint16_t>(bytes));
    const auto value = out_.subspan(size_ + kAttributeHeaderBytes, padded(bytes));
    std::ranges::fill(value, uint8_t{0});
    size_ += kAttributeHeaderBytes + padded(bytes);
    write_u16(out_, 2, static_cast<uint16_t>(size_ - kHeaderBytes));
    return value.first(bytes);
  }

  void sign(std::string_view password, HmacSha1 hmac) {
    const Sha1Digest digest = integrity_of(out_.first(size_), size_, password, hmac);
    std::ranges::copy(digest, attribute(kMessageIntegrity, kIntegrityBytes).begin());
  }

  Bytes finish() {
    const size_t before = size_;
    const auto value = attribute(kFingerprint, kFingerprintBytes);
    write_u32(value, 0, crc32(out_.first(before)) ^ kFingerprintMask);
    return out_.first(size_);
  }

 private:
  std::span<uint8_t> out_;
  size_t size_ = kHeaderBytes;
};

}  // namespace

std::optional<StunMessage> parse_stun(Bytes datagram) {
  if (datagram.size() < kHeaderBytes || datagram.size() > 1500) return std::nullopt;
  if (read_u32(datagram, 4) != kMagicCookie) return std::nullopt;
  if (size_t{read_u16(datagram, 2)} + kHeaderBytes != datagram.size()) return std::nullopt;
  const std::optional<StunKind> kind = kind_of(read_u16(datagram, 0));
  if (!kind) return std::nullopt;
  StunMessage message;
  message.kind = *kind;
  std::copy_n(datagram.begin() + 8, message.transaction.size(), message.transaction.begin());

  for (size_t at = kHeaderBytes; at < datagram.size();) {
    if (datagram.size() - at < kAttributeHeaderBytes) return std::nullopt;
    const uint16_t type = read_u16(datagram, at);
    const size_t bytes = read_u16(datagram, at + 2);
    const size_t next = at + kAttributeHeaderBytes + padded(bytes);
    if (next > datagram.size()) return std::nullopt;
    const Bytes value = datagram.subspan(at + kAttributeHeaderBytes, bytes);
    if (type == kFingerprint) {
      // FINGERPRINT must be last. Without it, other protocols could be mistaken for STUN (RFC 8445 §7.1.1).
      const bool right = bytes == kFingerprintBytes && next == datagram.size() &&
                         read_u32(value, 0) == (crc32(datagram.first(at)) ^ kFingerprintMask);
      return right ? std::optional(message) : std::nullopt;
    }
    // Attributes after MESSAGE-INTEGRITY are not protected and are ignored (RFC 8489 §14.5).
    if (message.integrity_at == 0 && !read_attribute(message, type, value, at)) return std::nullopt;
    at = next;
  }
  return std::nullopt;
}

bool stun_authentic(const StunMessage& message, Bytes datagram, std::string_view password, HmacSha1 hmac) {
  if (message.integrity_at == 0) return false;
  const Sha1Digest expected = integrity_of(datagram, message.integrity_at, password, hmac);
  const Bytes given = datagram.subspan(message.integrity_at + kAttributeHeaderBytes, kIntegrityBytes);
  uint8_t difference = 0;
  for (size_t i = 0; i < expected.size(); ++i) difference |= static_cast<uint8_t>(expected[i] ^ given[i]);
  return difference == 0;
}

Bytes stun_success(const StunMessage& request, const Address& from, std::string_view password, HmacSha1 hmac,
                   std::span<uint8_t, kMaxStunAnswer> out) {
  Writer writer(kBindingSuccess, request.transaction, out);
  const bool ipv4 = from.family == Address::Family::ipv4;
  const size_t ip_bytes = ipv4 ? 4 : 16;
  const auto value = writer.attribute(kXorMappedAddress, 4 + ip_bytes);
  value[1] = ipv4 ? 1 : 2;
  write_u16(value, 2, static_cast<uint16_t>(from.port ^ (kMagicCookie >> 16)));
  // The mask is the magic cookie followed by the transaction ID, as in the header (§14.2).
  const Bytes mask = Bytes(out).subspan(4);
  for (size_t i = 0; i < ip_bytes; ++i) value[4 + i] = static_cast<uint8_t>(from.ip[i] ^ mask[i]);
  writer.sign(password, hmac);
  return writer.finish();
}

Bytes stun_error(const StunMessage& request, uint16_t code, std::span<uint8_t, kMaxStunAnswer> out) {
  Writer writer(kBindingError, request.transaction, out);
  const auto value = writer.attribute(kErrorCode, 4);
  value[2] = static_cast<uint8_t>(code / 100);
  value[3] = static_cast<uint8_t>(code % 100);
  if (code == 420) {
    const auto types = writer.attribute(kUnknownAttributes, 2 * request.unknown_count);
    for (size_t i = 0; i < request.unknown_count; ++i) write_u16(types, 2 * i, request.unknown[i]);
  }
  return writer.finish();
}

}  // namespace carillon
