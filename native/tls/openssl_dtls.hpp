// Declarations of further OpenSSL functions that DTLS needs; see openssl.hpp.
#pragma once

#include <cstddef>

#include "tls/openssl.hpp"
#include "tls/srtp_profile.hpp"

extern "C" {
// NOLINTBEGIN: names of another project
struct bio_method_st;
struct evp_pkey_st;
struct evp_md_st;

const ssl_method_st* DTLS_method(void);
int SSL_CTX_use_certificate(ssl_ctx_st*, x509_st*);
int SSL_CTX_use_PrivateKey(ssl_ctx_st*, evp_pkey_st*);
int SSL_CTX_set_cipher_list(ssl_ctx_st*, const char*);
int SSL_CTX_set_tlsext_use_srtp(ssl_ctx_st*, const char*);
evp_pkey_st* PEM_read_bio_PrivateKey(bio_st*, evp_pkey_st**, int (*)(char*, int, int, void*), void*);
void EVP_PKEY_free(evp_pkey_st*);

void SSL_set_bio(ssl_st*, bio_st*, bio_st*);
void SSL_set_accept_state(ssl_st*);
void SSL_set_connect_state(ssl_st*);
int SSL_do_handshake(ssl_st*);
int SSL_get_shutdown(const ssl_st*);
x509_st* SSL_get1_peer_certificate(const ssl_st*);
int SSL_export_keying_material(ssl_st*, unsigned char*, size_t, const char*, size_t, const unsigned char*,
                               size_t, int);
srtp_protection_profile_st* SSL_get_selected_srtp_profile(ssl_st*);

const bio_method_st* BIO_s_mem(void);
bio_st* BIO_new(const bio_method_st*);
int BIO_read(bio_st*, void*, int);
int BIO_write(bio_st*, const void*, int);
size_t BIO_ctrl_pending(bio_st*);

const evp_md_st* EVP_sha256(void);
const evp_md_st* EVP_sha384(void);
const evp_md_st* EVP_sha512(void);
const evp_md_st* EVP_sha1(void);
int X509_digest(const x509_st*, const evp_md_st*, unsigned char*, unsigned int*);
unsigned char* HMAC(const evp_md_st*, const void*, int, const unsigned char*, size_t, unsigned char*,
                    unsigned int*);
// NOLINTEND
}

namespace carillon::openssl {

inline constexpr int kFailWithoutPeerCertificate = 0x02;  // SSL_VERIFY_FAIL_IF_NO_PEER_CERT
inline constexpr uint64_t kNoQueryMtu = 1ULL << 12;       // SSL_OP_NO_QUERY_MTU
inline constexpr uint64_t kNoTicket = 1ULL << 14;         // SSL_OP_NO_TICKET
inline constexpr long kDtls12 = 0xFEFD;                   // DTLS1_2_VERSION
inline constexpr int kGetTimeout = 73;                    // DTLS_CTRL_GET_TIMEOUT
inline constexpr int kHandleTimeout = 74;                 // DTLS_CTRL_HANDLE_TIMEOUT
inline constexpr int kSetLinkMtu = 120;                   // DTLS_CTRL_SET_LINK_MTU
inline constexpr int kReceivedShutdown = 2;               // SSL_RECEIVED_SHUTDOWN

}  // namespace carillon::openssl
