// AES in counter mode, made of single blocks.
//
// Each packet begins its counter elsewhere. OpenSSL 3 takes a new counter only by way of its parameter lists,
// and that costs several times what the encryption of a packet does (of 1.0 µs a packet with HMAC, 0.6). So
// the counters are laid out here and a context that has nothing to be told encrypts them all in one call.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"
#include "core/crypto/aes.hpp"
#include "tls/openssl_crypto.hpp"

namespace carillon {

class AesKeystream {
 public:
  /// 16 or 32 bytes. Test works() before anything else.
  explicit AesKeystream(Bytes key);
  [[nodiscard]] bool works() const { return context_ != nullptr; }

  /// `in` with the keystream that begins with the block of `counter`, to `out`, which may be `in`. The last
  /// 32 bits count (RFC 3686 §4, NIST SP 800-38D §6.2 inc32): AES-CM's 16 never run over in a packet.
  void apply(const AesBlock& counter, Bytes in, uint8_t* out) const;
  /// One block, or several one behind the other; `out` may be `in`.
  void encrypt(Bytes in, uint8_t* out) const;

  /// Where OpenSSL keeps it.
  [[nodiscard]] const void* memory() const { return context_.get(); }

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<evp_cipher_ctx_st, Free> context_;
};

}  // namespace carillon
