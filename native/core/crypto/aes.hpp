// AES-128 and AES-256 (FIPS 197) with processor instructions, whose run time does not depend on key or text.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/crypto/processor.hpp"

namespace carillon {

inline constexpr size_t kAesBlock = 16;
using AesBlock = std::array<uint8_t, kAesBlock>;

#ifdef CARILLON_X86_CRYPTO

/// Requires processor_has_aes().
class AesKey {
 public:
  /// `key`: 16 or 32 bytes.
  explicit AesKey(Bytes key);
  AesKey(const AesKey&) = delete;
  AesKey& operator=(const AesKey&) = delete;
  ~AesKey();

  void encrypt(const AesBlock& in, AesBlock& out) const;
  /// Applies the keystream to `text` in place, starting with block `counter`, whose last 32 bits are
  /// incremented (NIST SP 800-38D §6.2 inc32). The 16-bit counter of AES-CM never overflows within a packet.
  void apply(const AesBlock& counter, std::span<uint8_t> text) const;

 private:
  static constexpr size_t kMostRounds = 14;
  size_t last_;
  // Round keys; only AES-256 uses all of them.
  std::array<AesBlock, kMostRounds + 1> rounds_{};
};

#endif

}  // namespace carillon
