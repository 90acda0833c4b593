// The cryptography of SRTP and STUN: by the OpenSSL inside the Node binary, and what each packet needs by the
// processor's own instructions where it has them.
#pragma once

#include "core/ice/stun.hpp"
#include "core/srtp/packet_cipher.hpp"

namespace carillon {

/// A MakeCiphers: the processor's, else OpenSSL's.
CipherPair srtp_ciphers(const SrtpKeys& keys, CipherUse use);
/// A MakeCiphers: OpenSSL's alone.
CipherPair openssl_ciphers(const SrtpKeys& keys, CipherUse use);
/// A HmacSha1.
Sha1Digest openssl_hmac_sha1(Bytes key, Bytes text);

}  // namespace carillon
