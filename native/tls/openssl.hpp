// Declarations of the OpenSSL functions that a TLS client needs. Node's binary exports them, and an addon
// resolves them in the process that loads it. Node's package and node-api-headers do not include these
// headers. Names, types and numbers are those of OpenSSL 3's public interface (openssl/ssl.h, x509.h).
#pragma once

#include <cstdint>

extern "C" {
// NOLINTBEGIN: names of another project
struct ssl_method_st;
struct ssl_ctx_st;
struct ssl_st;
struct x509_st;
struct x509_store_st;
struct x509_store_ctx_st;
struct X509_VERIFY_PARAM_st;
struct bio_st;

const ssl_method_st* TLS_client_method(void);
ssl_ctx_st* SSL_CTX_new(const ssl_method_st*);
void SSL_CTX_free(ssl_ctx_st*);
long SSL_CTX_ctrl(ssl_ctx_st*, int, long, void*);
uint64_t SSL_CTX_set_options(ssl_ctx_st*, uint64_t);
void SSL_CTX_set_verify(ssl_ctx_st*, int, int (*)(int, x509_store_ctx_st*));
x509_store_st* SSL_CTX_get_cert_store(const ssl_ctx_st*);
int X509_STORE_add_cert(x509_store_st*, x509_st*);
void X509_free(x509_st*);
bio_st* BIO_new_mem_buf(const void*, int);
int BIO_free(bio_st*);
x509_st* PEM_read_bio_X509(bio_st*, x509_st**, int (*)(char*, int, int, void*), void*);

ssl_st* SSL_new(ssl_ctx_st*);
void SSL_free(ssl_st*);
int SSL_set_fd(ssl_st*, int);
long SSL_ctrl(ssl_st*, int, long, void*);
int SSL_set1_host(ssl_st*, const char*);
X509_VERIFY_PARAM_st* SSL_get0_param(ssl_st*);
int X509_VERIFY_PARAM_set1_ip_asc(X509_VERIFY_PARAM_st*, const char*);
int SSL_connect(ssl_st*);
int SSL_read(ssl_st*, void*, int);
int SSL_write(ssl_st*, const void*, int);
int SSL_shutdown(ssl_st*);
int SSL_has_pending(const ssl_st*);
int SSL_get_error(const ssl_st*, int);
long SSL_get_verify_result(const ssl_st*);
unsigned long ERR_peek_last_error(void);
const char* ERR_reason_error_string(unsigned long);
void ERR_clear_error(void);
// NOLINTEND
}

namespace carillon::openssl {

inline constexpr int kVerifyPeer = 0x01;                  // SSL_VERIFY_PEER
inline constexpr int kSetMode = 33;                       // SSL_CTRL_MODE
inline constexpr long kPartialWrite = 0x01;               // SSL_MODE_ENABLE_PARTIAL_WRITE
inline constexpr long kMovingWriteBuffer = 0x02;          // SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
inline constexpr long kReleaseBuffers = 0x10;             // SSL_MODE_RELEASE_BUFFERS
inline constexpr int kClearMode = 78;                     // SSL_CTRL_CLEAR_MODE
inline constexpr long kAutoRetry = 0x04;                  // SSL_MODE_AUTO_RETRY
inline constexpr uint64_t kNoRenegotiation = 1ULL << 30;  // SSL_OP_NO_RENEGOTIATION
inline constexpr int kSetReadAhead = 41;                  // SSL_CTRL_SET_READ_AHEAD
inline constexpr int kSetHostName = 55;                   // SSL_CTRL_SET_TLSEXT_HOSTNAME
inline constexpr int kSetMinVersion = 123;                // SSL_CTRL_SET_MIN_PROTO_VERSION
inline constexpr long kHostNameType = 0;                  // TLSEXT_NAMETYPE_host_name
inline constexpr long kTls12 = 0x0303;                    // TLS1_2_VERSION
inline constexpr int kErrorWantRead = 2;                  // SSL_ERROR_WANT_READ
inline constexpr int kErrorWantWrite = 3;                 // SSL_ERROR_WANT_WRITE
inline constexpr int kErrorSystem = 5;                    // SSL_ERROR_SYSCALL
inline constexpr int kErrorZeroReturn = 6;                // SSL_ERROR_ZERO_RETURN
inline constexpr long kVerifyOk = 0;                      // X509_V_OK
inline constexpr int kReasonUnexpectedEof = 294;          // SSL_R_UNEXPECTED_EOF_WHILE_READING
inline constexpr unsigned long kReasonMask = 0x7fffff;    // ERR_GET_REASON

}  // namespace carillon::openssl
