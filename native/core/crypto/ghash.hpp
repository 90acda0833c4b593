// GHASH (NIST SP 800-38D §6.4), the authentication of AES-GCM, by the processor's carry-less multiplication.
#pragma once

#include <array>
#include <cstdint>

#include "core/crypto/aes.hpp"

namespace carillon {

#ifdef CARILLON_X86_CRYPTO

/// Where processor_has_aes(). A key's powers; of a message the hash is a value that goes from call to call.
class GhashKey {
 public:
  /// The message so far.
  struct State {
    AesBlock value{};
  };

  /// `subkey`: zeros, encrypted.
  explicit GhashKey(const AesBlock& subkey);
  GhashKey(const GhashKey&) = delete;
  GhashKey& operator=(const GhashKey&) = delete;
  ~GhashKey();

  /// The last block is filled up with zeros.
  void add(State& state, Bytes bytes) const;
  /// Hash of what was added, ended by the lengths of its two parts, in bytes.
  [[nodiscard]] AesBlock end(State& state, size_t beside, size_t text) const;

 private:
  /// Blocks that are reduced together.
  static constexpr size_t kPowers = 4;
  /// The first power is the key itself.
  std::array<AesBlock, kPowers> powers_{};
};

#endif

}  // namespace carillon
