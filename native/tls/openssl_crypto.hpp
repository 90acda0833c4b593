// Declarations of the libcrypto functions that SRTP needs (openssl/evp.h, openssl/modes.h, openssl/sha.h of
// OpenSSL 3). Node's binary exports them; see openssl.hpp. A test compiles them against OpenSSL's headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tls/sha_state.hpp"

extern "C" {
// NOLINTBEGIN: names of another project
struct evp_cipher_st;
struct evp_cipher_ctx_st;
struct engine_st;

const evp_cipher_st* EVP_aes_128_ecb(void);
const evp_cipher_st* EVP_aes_256_ecb(void);
evp_cipher_ctx_st* EVP_CIPHER_CTX_new(void);
void EVP_CIPHER_CTX_free(evp_cipher_ctx_st*);
int EVP_CIPHER_CTX_set_padding(evp_cipher_ctx_st*, int);
int EVP_CipherInit_ex(evp_cipher_ctx_st*, const evp_cipher_st*, engine_st*, const unsigned char*,
                      const unsigned char*, int);
int EVP_CipherUpdate(evp_cipher_ctx_st*, unsigned char*, int*, const unsigned char*, int);

// Galois/counter mode with a caller-supplied block cipher (openssl/modes.h).
struct gcm128_context;
using block128_f = void (*)(const unsigned char in[16], unsigned char out[16], const void* key);
using ctr128_f = void (*)(const unsigned char* in, unsigned char* out, size_t blocks, const void* key,
                          const unsigned char counter[16]);
gcm128_context* CRYPTO_gcm128_new(void* key, block128_f);
void CRYPTO_gcm128_release(gcm128_context*);
void CRYPTO_gcm128_setiv(gcm128_context*, const unsigned char*, size_t);
int CRYPTO_gcm128_aad(gcm128_context*, const unsigned char*, size_t);
int CRYPTO_gcm128_encrypt_ctr32(gcm128_context*, const unsigned char* in, unsigned char* out, size_t,
                                ctr128_f);
int CRYPTO_gcm128_decrypt_ctr32(gcm128_context*, const unsigned char* in, unsigned char* out, size_t,
                                ctr128_f);
void CRYPTO_gcm128_tag(gcm128_context*, unsigned char*, size_t);
int CRYPTO_gcm128_finish(gcm128_context*, const unsigned char* tag, size_t);

// The newer API has an overhead of three calls per tag. These functions use plain memory that can be copied.
int SHA1_Init(SHAstate_st*);
int SHA1_Update(SHAstate_st*, const void*, size_t);
int SHA1_Final(unsigned char*, SHAstate_st*);

int CRYPTO_memcmp(const void*, const void*, size_t);
void OPENSSL_cleanse(void*, size_t);
// NOLINTEND
}
