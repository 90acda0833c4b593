// GHASH (NIST SP 800-38D §6.4), the authentication of AES-GCM, with carry-less multiplication instructions.
#pragma once

#include <array>
#include <cstdint>

#include "core/crypto/aes.hpp"

namespace carillon {

#ifdef CARILLON_X86_CRYPTO

/// GHASH key, stored as powers of the subkey. Requires processor_has_aes(). The caller keeps the state of
/// each message.
class GhashKey {
 public:
  /// Hash state of a message.
  struct State {
    AesBlock value{};
  };

  /// `subkey`: the encrypted zero block.
  explicit GhashKey(const AesBlock& subkey);
  GhashKey(const GhashKey&) = delete;
  GhashKey& operator=(const GhashKey&) = delete;
  ~GhashKey();

  /// Adds bytes to the hash. Pads the last block with zeros.
  void add(State& state, Bytes bytes) const;
  /// Returns the final hash. `aad_bytes` and `text`: lengths of the additional data and the ciphertext in
  /// bytes.
  [[nodiscard]] AesBlock end(State& state, size_t aad_bytes, size_t text) const;

 private:
  /// Number of blocks per reduction.
  static constexpr size_t kPowers = 4;
  /// Powers of the key, starting with the key itself.
  std::array<AesBlock, kPowers> powers_{};
};

#endif

}  // namespace carillon
