// AES-128 and AES-256 (FIPS 197) by the processor's instructions, which take the same time whatever the key
// and the text are.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/crypto/processor.hpp"

namespace carillon {

inline constexpr size_t kAesBlock = 16;
using AesBlock = std::array<uint8_t, kAesBlock>;

#ifdef CARILLON_X86_CRYPTO

/// Where processor_has_aes().
class AesKey {
 public:
  /// 16 or 32 bytes.
  explicit AesKey(Bytes key);
  AesKey(const AesKey&) = delete;
  AesKey& operator=(const AesKey&) = delete;
  ~AesKey();

  void encrypt(const AesBlock& in, AesBlock& out) const;
  /// `text`, in place, with the keystream that begins with the block of `counter`, whose last 32 bits count
  /// (NIST SP 800-38D §6.2 inc32; AES-CM's 16 never run over in a packet).
  void apply(const AesBlock& counter, std::span<uint8_t> text) const;

 private:
  static constexpr size_t kMostRounds = 14;
  size_t last_;
  // AES-256 uses all of them.
  std::array<AesBlock, kMostRounds + 1> rounds_{};
};

#endif

}  // namespace carillon
