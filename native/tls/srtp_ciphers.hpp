// Cryptography of SRTP and STUN with the OpenSSL in the Node binary. Per-packet operations use processor
// instructions if available.
#pragma once

#include "core/ice/stun.hpp"
#include "core/srtp/packet_cipher.hpp"

namespace carillon {

/// MakeCiphers that prefers processor instructions over OpenSSL.
CipherPair srtp_ciphers(const SrtpKeys& keys, CipherUse use);
/// MakeCiphers that uses only OpenSSL.
CipherPair openssl_ciphers(const SrtpKeys& keys, CipherUse use);
/// HmacSha1 implementation with OpenSSL.
Sha1Digest openssl_hmac_sha1(Bytes key, Bytes text);

}  // namespace carillon
