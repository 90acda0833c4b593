// The cryptography of SRTP and STUN by the OpenSSL inside the Node binary.
#pragma once

#include "core/ice/stun.hpp"
#include "core/srtp/packet_cipher.hpp"

namespace carillon {

/// A MakeCiphers.
CipherPair openssl_ciphers(const SrtpKeys& keys, CipherUse use);
/// A HmacSha1.
Sha1Digest openssl_hmac_sha1(Bytes key, Bytes text);

}  // namespace carillon
