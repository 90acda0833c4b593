// SRTP's ciphers by the processor's own instructions (core/crypto).
#pragma once

#include <memory>

#include "core/srtp/packet_cipher.hpp"

namespace carillon {

/// AES-CM with HMAC-SHA1 (RFC 3711 §4, RFC 6188), with the keys of a session: 16 or 32, 14 and 20 bytes.
/// Null: this processor has not what it needs.
std::unique_ptr<PacketCipher> processor_counter_cipher(Bytes key, Bytes salt, Bytes auth_key);
/// AES-GCM (RFC 7714): 16 or 32, and 12 bytes.
std::unique_ptr<PacketCipher> processor_gcm_cipher(Bytes key, Bytes salt);

}  // namespace carillon
