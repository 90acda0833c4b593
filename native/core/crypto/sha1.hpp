// HMAC-SHA1 (RFC 2104, FIPS 180-4) of packets, by the processor's instructions.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/crypto/processor.hpp"

namespace carillon {

#ifdef CARILLON_X86_CRYPTO

/// Where processor_has_sha1(). The key's two blocks are hashed beforehand; of them no more is kept than what
/// the hash goes on from.
class PacketHmac {
 public:
  static constexpr size_t kDigestBytes = 20;
  static constexpr size_t kBlockBytes = 64;
  /// The longest `more`.
  static constexpr size_t kMaxMore = 8;
  using Digest = std::array<uint8_t, kDigestBytes>;
  using State = std::array<uint32_t, 5>;

  /// At most kBlockBytes.
  explicit PacketHmac(Bytes key);
  PacketHmac(const PacketHmac&) = delete;
  PacketHmac& operator=(const PacketHmac&) = delete;
  ~PacketHmac();

  /// Of `text` and, behind it, `more`.
  [[nodiscard]] Digest of(Bytes text, Bytes more) const;

 private:
  State inner_;
  State outer_;
};

#endif

}  // namespace carillon
