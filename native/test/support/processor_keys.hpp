// SRTP's ciphers by the processor, with the master key as session key: the derivation is OpenSSL's, which
// tests of the core are without.
#pragma once

#include "core/srtp/processor_ciphers.hpp"
#include "test/support/number_cipher.hpp"

namespace carillon::test {

/// A MakeCiphers; without cryptography where the processor has none.
inline CipherPair underived(const SrtpKeys& keys, CipherUse use) {
  const Bytes auth = Bytes(keys.master).first(20);
  const auto make = [&] {
    return sizes_of(keys.suite).aead ? processor_gcm_cipher(keys.key(), keys.salt())
                                     : processor_counter_cipher(keys.key(), keys.salt(), auth);
  };
  CipherPair pair{make(), make()};
  return pair.rtp == nullptr ? numbers(keys, use) : std::move(pair);
}

}  // namespace carillon::test
