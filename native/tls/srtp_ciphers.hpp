// SRTP's cryptography by the OpenSSL inside the Node binary.
#pragma once

#include "core/srtp/packet_cipher.hpp"

namespace carillon {

/// A MakeCiphers.
CipherPair openssl_ciphers(const SrtpKeys& keys, CipherUse use);

}  // namespace carillon
