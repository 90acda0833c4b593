// HMAC-SHA1 (RFC 2104, FIPS 180-4) of packets with processor instructions.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/crypto/processor.hpp"

namespace carillon {

#ifdef CARILLON_X86_CRYPTO

/// HMAC key. Requires processor_has_sha1(). The two key blocks are hashed in advance, and only the resulting
/// states are stored.
class PacketHmac {
 public:
  static constexpr size_t kDigestBytes = 20;
  static constexpr size_t kBlockBytes = 64;
  /// Maximum length of `more` in bytes.
  static constexpr size_t kMaxMore = 8;
  using Digest = std::array<uint8_t, kDigestBytes>;
  using State = std::array<uint32_t, 5>;

  /// `key`: at most kBlockBytes bytes.
  explicit PacketHmac(Bytes key);
  PacketHmac(const PacketHmac&) = delete;
  PacketHmac& operator=(const PacketHmac&) = delete;
  ~PacketHmac();

  /// Returns the HMAC of `text` followed by `more`.
  [[nodiscard]] Digest of(Bytes text, Bytes more) const;

 private:
  State inner_;
  State outer_;
};

#endif

}  // namespace carillon
