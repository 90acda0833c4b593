// The part of OpenSSL's libcrypto that SRTP needs, as Node's binary exports it; see openssl.hpp for why it is
// declared here (openssl/evp.h, openssl/sha.h of OpenSSL 3).
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
// NOLINTBEGIN: another project's names
struct evp_cipher_st;
struct evp_cipher_ctx_st;
struct engine_st;

/// A public structure: SHA_CTX.
struct SHAstate_st {
  unsigned int h0, h1, h2, h3, h4;
  unsigned int Nl, Nh;
  unsigned int data[16];
  unsigned int num;
};

const evp_cipher_st* EVP_aes_128_ctr(void);
const evp_cipher_st* EVP_aes_256_ctr(void);
const evp_cipher_st* EVP_aes_128_gcm(void);
const evp_cipher_st* EVP_aes_256_gcm(void);
evp_cipher_ctx_st* EVP_CIPHER_CTX_new(void);
void EVP_CIPHER_CTX_free(evp_cipher_ctx_st*);
int EVP_CIPHER_CTX_ctrl(evp_cipher_ctx_st*, int, int, void*);
int EVP_CipherInit_ex(evp_cipher_ctx_st*, const evp_cipher_st*, engine_st*, const unsigned char*,
                      const unsigned char*, int);
int EVP_CipherUpdate(evp_cipher_ctx_st*, unsigned char*, int*, const unsigned char*, int);
int EVP_CipherFinal_ex(evp_cipher_ctx_st*, unsigned char*, int*);

// One tag costs three of OpenSSL's newer calls' overheads: these work on plain memory, which can be copied.
int SHA1_Init(SHAstate_st*);
int SHA1_Update(SHAstate_st*, const void*, size_t);
int SHA1_Final(unsigned char*, SHAstate_st*);

int CRYPTO_memcmp(const void*, const void*, size_t);
void OPENSSL_cleanse(void*, size_t);
// NOLINTEND
}

namespace carillon::openssl {

inline constexpr int kGetTag = 0x10;  // EVP_CTRL_AEAD_GET_TAG
inline constexpr int kSetTag = 0x11;  // EVP_CTRL_AEAD_SET_TAG

}  // namespace carillon::openssl
