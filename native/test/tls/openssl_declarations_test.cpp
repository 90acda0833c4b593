// Compiles the declarations of tls/ together with OpenSSL's own headers: the compiler refuses a function with
// different parameters. Values and layouts are compared here.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/modes.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>

// The two structures under another name; `#pragma once` keeps the next headers from defining them again.
namespace ours {
#include "tls/sha_state.hpp"
#include "tls/srtp_profile.hpp"
}  // namespace ours
#include <doctest/doctest.h>

#include "tls/openssl.hpp"
#include "tls/openssl_crypto.hpp"
#include "tls/openssl_dtls.hpp"

namespace carillon {

#define CARILLON_SAME_MEMBER(ours_type, real_type, member)                   \
  static_assert(offsetof(ours_type, member) == offsetof(real_type, member)); \
  static_assert(sizeof(ours_type::member) == sizeof(real_type::member))

static_assert(sizeof(ours::SHAstate_st) == sizeof(SHA_CTX));
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, h0);
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, h1);
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, h2);
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, h3);
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, h4);
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, Nl);
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, Nh);
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, data);
CARILLON_SAME_MEMBER(ours::SHAstate_st, SHA_CTX, num);

static_assert(sizeof(ours::srtp_protection_profile_st) == sizeof(SRTP_PROTECTION_PROFILE));
CARILLON_SAME_MEMBER(ours::srtp_protection_profile_st, SRTP_PROTECTION_PROFILE, name);
CARILLON_SAME_MEMBER(ours::srtp_protection_profile_st, SRTP_PROTECTION_PROFILE, id);

static_assert(openssl::kVerifyPeer == SSL_VERIFY_PEER);
static_assert(openssl::kSetMode == SSL_CTRL_MODE);
static_assert(openssl::kPartialWrite == SSL_MODE_ENABLE_PARTIAL_WRITE);
static_assert(openssl::kMovingWriteBuffer == SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
static_assert(openssl::kReleaseBuffers == SSL_MODE_RELEASE_BUFFERS);
static_assert(openssl::kClearMode == SSL_CTRL_CLEAR_MODE);
static_assert(openssl::kAutoRetry == SSL_MODE_AUTO_RETRY);
static_assert(openssl::kNoRenegotiation == SSL_OP_NO_RENEGOTIATION);
static_assert(openssl::kSetReadAhead == SSL_CTRL_SET_READ_AHEAD);
static_assert(openssl::kSetHostName == SSL_CTRL_SET_TLSEXT_HOSTNAME);
static_assert(openssl::kSetMinVersion == SSL_CTRL_SET_MIN_PROTO_VERSION);
static_assert(openssl::kHostNameType == TLSEXT_NAMETYPE_host_name);
static_assert(openssl::kTls12 == TLS1_2_VERSION);
static_assert(openssl::kErrorWantRead == SSL_ERROR_WANT_READ);
static_assert(openssl::kErrorWantWrite == SSL_ERROR_WANT_WRITE);
static_assert(openssl::kErrorSystem == SSL_ERROR_SYSCALL);
static_assert(openssl::kErrorZeroReturn == SSL_ERROR_ZERO_RETURN);
static_assert(openssl::kVerifyOk == X509_V_OK);
static_assert(openssl::kReasonUnexpectedEof == SSL_R_UNEXPECTED_EOF_WHILE_READING);
static_assert(openssl::kReasonMask == ERR_REASON_MASK);
static_assert(openssl::kFailWithoutPeerCertificate == SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
static_assert(openssl::kNoQueryMtu == SSL_OP_NO_QUERY_MTU);
static_assert(openssl::kNoTicket == SSL_OP_NO_TICKET);
static_assert(openssl::kDtls12 == DTLS1_2_VERSION);
static_assert(openssl::kGetTimeout == DTLS_CTRL_GET_TIMEOUT);
static_assert(openssl::kHandleTimeout == DTLS_CTRL_HANDLE_TIMEOUT);
static_assert(openssl::kSetLinkMtu == DTLS_CTRL_SET_LINK_MTU);
static_assert(openssl::kReceivedShutdown == SSL_RECEIVED_SHUTDOWN);

TEST_CASE("the declarations of OpenSSL's functions agree with its headers") {
  // The compiler has checked them. The library in this process must be of the same major version.
  CHECK((OpenSSL_version_num() >> 28) == 3);
}

}  // namespace carillon
