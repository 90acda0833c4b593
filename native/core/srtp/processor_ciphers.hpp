// SRTP ciphers with processor instructions (core/crypto).
#pragma once

#include <memory>

#include "core/srtp/packet_cipher.hpp"

namespace carillon {

/// AES-CM with HMAC-SHA1 (RFC 3711 §4, RFC 6188). Session key lengths: 16 or 32 bytes, 14 bytes (salt) and 20
/// bytes (auth). Returns null if the processor lacks the instructions.
std::unique_ptr<PacketCipher> processor_counter_cipher(Bytes key, Bytes salt, Bytes auth_key);
/// AES-GCM (RFC 7714). Key of 16 or 32 bytes, salt of 12 bytes. Returns null if the processor lacks the
/// instructions.
std::unique_ptr<PacketCipher> processor_gcm_cipher(Bytes key, Bytes salt);

}  // namespace carillon
