// SRTP processor ciphers that use the master key as session key, because key derivation needs OpenSSL, which
// tests of the core do not link.
#pragma once

#include "core/srtp/processor_ciphers.hpp"
#include "test/support/number_cipher.hpp"

namespace carillon::test {

/// MakeCiphers that returns null pointers if the processor lacks the instructions.
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
