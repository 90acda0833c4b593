// Supported SRTP crypto suites and their sizes (RFC 4568 §6.2, RFC 6188 §4, RFC 7714 §14.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace carillon {

enum class SrtpSuite : uint8_t {
  aes128_sha80,
  aes128_sha32,
  aes256_sha80,
  aes256_sha32,
  aes128_gcm,
  aes256_gcm,
};

struct SrtpSizes {
  uint8_t key;
  uint8_t salt;
  uint8_t rtp_tag;
  uint8_t rtcp_tag;
  /// True if encryption includes authentication (RFC 7714).
  bool aead;
};

constexpr SrtpSizes sizes_of(SrtpSuite suite) {
  switch (suite) {
    case SrtpSuite::aes128_sha80:
      return {16, 14, 10, 10, false};
    case SrtpSuite::aes128_sha32:
      return {16, 14, 4, 10, false};  // the short tag applies to RTP only
    case SrtpSuite::aes256_sha80:
      return {32, 14, 10, 10, false};
    case SrtpSuite::aes256_sha32:
      return {32, 14, 4, 10, false};
    case SrtpSuite::aes128_gcm:
      return {16, 12, 16, 16, true};
    case SrtpSuite::aes256_gcm:
      return {32, 12, 16, 16, true};
  }
  return {};
}

inline constexpr size_t kMaxSrtpKeyBytes = 32 + 14;

/// Keys of one direction as in SDP.
struct SrtpKeys {
  SrtpSuite suite = SrtpSuite::aes128_sha80;
  /// Master key followed by master salt, as in `inline:`.
  std::array<uint8_t, kMaxSrtpKeyBytes> master{};
  /// Length of the MKI in each packet in bytes. Its value is ignored, because there is one key.
  size_t mki_bytes = 0;

  [[nodiscard]] Bytes key() const { return Bytes(master).first(sizes_of(suite).key); }
  [[nodiscard]] Bytes salt() const {
    return Bytes(master).subspan(sizes_of(suite).key, sizes_of(suite).salt);
  }
  friend bool operator==(const SrtpKeys&, const SrtpKeys&) = default;
};

}  // namespace carillon
