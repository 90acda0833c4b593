#include "tls/dtls_session.hpp"

#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tls/openssl_crypto.hpp"
#include "tls/openssl_dtls.hpp"

namespace carillon {

namespace {

using namespace openssl;

constexpr size_t kRecordHeaderBytes = 13;
constexpr const char* kLabel = "EXTRACTOR-dtls_srtp";
/// Profiles in our order of preference. A server selects the first one that the client also supports.
constexpr const char* kProfiles = "SRTP_AEAD_AES_128_GCM:SRTP_AEAD_AES_256_GCM:SRTP_AES128_CM_SHA1_80";
/// Accepts any certificate chain: the fingerprint identifies the peer.
int accept_any(int /*ok*/, x509_store_ctx_st* /*store*/) { return 1; }

struct FreeBio {
  void operator()(bio_st* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<bio_st, FreeBio>;

Bio memory(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

bool load(ssl_ctx_st* context, const std::string& certificate, const std::string& key) {
  const Bio certificate_bio = memory(certificate);
  const Bio key_bio = memory(key);
  x509_st* const read_certificate = PEM_read_bio_X509(certificate_bio.get(), nullptr, nullptr, nullptr);
  evp_pkey_st* const read_key = PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr);
  // Null pointers are rejected here.
  const bool good = read_certificate != nullptr && read_key != nullptr &&
                    SSL_CTX_use_certificate(context, read_certificate) == 1 &&
                    SSL_CTX_use_PrivateKey(context, read_key) == 1;
  X509_free(read_certificate);
  EVP_PKEY_free(read_key);
  return good;
}

std::optional<SrtpSuite> suite_of(unsigned long profile) {
  switch (profile) {  // IANA DTLS-SRTP protection profiles
    case 0x0001:
      return SrtpSuite::aes128_sha80;
    case 0x0002:
      return SrtpSuite::aes128_sha32;
    case 0x0007:
      return SrtpSuite::aes128_gcm;
    case 0x0008:
      return SrtpSuite::aes256_gcm;
    default:
      return std::nullopt;
  }
}

const evp_md_st* digest_of(FingerprintHash hash) {
  switch (hash) {
    case FingerprintHash::sha384:
      return EVP_sha384();
    case FingerprintHash::sha512:
      return EVP_sha512();
    case FingerprintHash::sha256:
      break;
  }
  return EVP_sha256();
}

}  // namespace

std::shared_ptr<DtlsIdentity> DtlsIdentity::read(const std::string& certificate, const std::string& key) {
  ssl_ctx_st* const context = SSL_CTX_new(DTLS_method());
  if (context == nullptr) return nullptr;
  std::shared_ptr<DtlsIdentity> identity(new DtlsIdentity(context));
  SSL_CTX_ctrl(context, kSetMinVersion, kDtls12, nullptr);
  SSL_CTX_ctrl(context, kSetReadAhead, 1, nullptr);
  SSL_CTX_set_options(context, kNoQueryMtu | kNoTicket | kNoRenegotiation);
  SSL_CTX_set_verify(context, kVerifyPeer | kFailWithoutPeerCertificate, accept_any);
  const bool good = load(context, certificate, key) &&
                    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
                    SSL_CTX_set_tlsext_use_srtp(context, kProfiles) == 0;
  ERR_clear_error();
  return good ? identity : nullptr;
}

DtlsIdentity::~DtlsIdentity() { SSL_CTX_free(context_); }

DtlsSession::DtlsSession(std::shared_ptr<DtlsIdentity> identity, DtlsTerms terms)
    : identity_(std::move(identity)), terms_(std::move(terms)), filter_(terms_.client) {
  if (!open()) fail("out of memory");
}

/// Starts a new handshake.
bool DtlsSession::open() {
  SSL_free(ssl_);
  ++starts_;
  filter_ = RecordFilter(terms_.client);
  state_ = State::idle;
  ssl_ = SSL_new(identity_->context());
  in_ = BIO_new(BIO_s_mem());
  out_ = BIO_new(BIO_s_mem());
  if (ssl_ == nullptr || in_ == nullptr || out_ == nullptr) return false;
  SSL_set_bio(ssl_, in_, out_);  // transfers ownership
  SSL_ctrl(ssl_, kSetLinkMtu, kMaxDatagram, nullptr);
  if (terms_.client) {
    SSL_set_connect_state(ssl_);
  } else {
    SSL_set_accept_state(ssl_);
  }
  return true;
}

DtlsSession::~DtlsSession() { SSL_free(ssl_); }

void DtlsSession::begin() {
  if (terms_.client && state_ == State::idle) proceed();
}

void DtlsSession::receive(Bytes datagram) {
  if (state_ == State::failed || state_ == State::closed) return;
  // A client that has not started expects no datagrams.
  if (terms_.client && state_ == State::idle) return;
  const std::vector<uint8_t> records = filter_.accepted(datagram);
  if (records.empty()) return;
  BIO_write(in_, records.data(), static_cast<int>(records.size()));
  proceed();
}

void DtlsSession::proceed() {
  // The error queue belongs to the thread. Clear errors of other sessions.
  ERR_clear_error();
  if (state_ == State::secured) {
    read_secured();
    return;
  }
  state_ = State::shaking;
  const int result = SSL_do_handshake(ssl_);
  if (result == 1) {
    conclude();
    return;
  }
  const int error = SSL_get_error(ssl_, result);
  if (error != kErrorWantRead && error != kErrorWantWrite) {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    start_over(reason == nullptr ? "the handshake failed" : reason);
  }
  ERR_clear_error();
}

/// Answers a retransmitted handshake flight, and detects the peer's authenticated close_notify or fatal
/// alert. Application data is ignored.
void DtlsSession::read_secured() {
  std::array<uint8_t, 256> ignored;
  while (SSL_read(ssl_, ignored.data(), static_cast<int>(ignored.size())) > 0) {
  }
  if ((SSL_get_shutdown(ssl_) & kReceivedShutdown) != 0) state_ = State::closed;
  ERR_clear_error();
}

/// A handshake is authenticated only at its end, so a message that causes a fatal error may be forged. Drops
/// the attempt and its alert, and starts another. The thread's timeout limits the total time.
void DtlsSession::start_over(std::string why) {
  trouble_ = std::move(why);
  if (starts_ >= kMaxStarts) {
    fail(trouble_);
    return;
  }
  if (!open()) {
    fail("out of memory");
    return;
  }
  begin();
}

bool DtlsSession::is_expected_peer() const {
  x509_st* const certificate = SSL_get1_peer_certificate(ssl_);
  if (certificate == nullptr) return false;
  std::array<uint8_t, 64> digest;
  unsigned int size = 0;
  const bool known = X509_digest(certificate, digest_of(terms_.peer.hash), digest.data(), &size) == 1;
  X509_free(certificate);
  return known && std::ranges::equal(Bytes(digest).first(size), terms_.peer.value);
}

void DtlsSession::conclude() {
  if (!is_expected_peer()) {
    fail("the certificate does not match the session description");
    return;
  }
  const srtp_protection_profile_st* const profile = SSL_get_selected_srtp_profile(ssl_);
  const std::optional<SrtpSuite> suite = profile == nullptr ? std::nullopt : suite_of(profile->id);
  if (!suite) {
    fail("no common SRTP profile");
    return;
  }
  const SrtpSizes sizes = sizes_of(*suite);
  // Order: client key, server key, client salt, server salt (RFC 5764 §4.2).
  std::array<uint8_t, 2 * kMaxSrtpKeyBytes> material{};
  const size_t bytes = 2 * (sizes.key + sizes.salt);
  if (SSL_export_keying_material(ssl_, material.data(), bytes, kLabel, std::strlen(kLabel), nullptr, 0, 0) !=
      1) {
    fail("the keys could not be exported");
    return;
  }
  const auto keys_of = [&](size_t side) {
    SrtpKeys keys;
    keys.suite = *suite;
    std::copy_n(material.begin() + static_cast<std::ptrdiff_t>(side * sizes.key), sizes.key,
                keys.master.begin());
    std::copy_n(material.begin() + static_cast<std::ptrdiff_t>(2 * sizes.key + side * sizes.salt), sizes.salt,
                keys.master.begin() + static_cast<std::ptrdiff_t>(sizes.key));
    return keys;
  };
  const size_t ours = terms_.client ? 0 : 1;
  keys_ = DtlsKeys{keys_of(ours), keys_of(1 - ours)};
  OPENSSL_cleanse(material.data(), material.size());
  filter_.secured();
  state_ = State::secured;
}

void DtlsSession::fail(std::string why) {
  state_ = State::failed;
  fault_ = std::move(why);
}

std::optional<Nanos> DtlsSession::until_timeout() const {
  timeval left{};
  if (state_ != State::shaking || SSL_ctrl(ssl_, kGetTimeout, 0, &left) != 1) return std::nullopt;
  return int64_t{left.tv_sec} * kSecond + int64_t{left.tv_usec} * kMicrosecond;
}

void DtlsSession::time_out() {
  ERR_clear_error();
  if (state_ == State::shaking && SSL_ctrl(ssl_, kHandleTimeout, 0, nullptr) < 0)
    fail("no response from the peer");
  ERR_clear_error();
}

std::optional<DtlsKeys> DtlsSession::take_keys() { return std::exchange(keys_, std::nullopt); }

std::vector<std::vector<uint8_t>> DtlsSession::take_datagrams() {
  std::vector<std::vector<uint8_t>> datagrams;
  if (out_ == nullptr) return datagrams;
  std::vector<uint8_t> bytes(BIO_ctrl_pending(out_));
  if (bytes.empty() || BIO_read(out_, bytes.data(), static_cast<int>(bytes.size())) <= 0) return datagrams;
  // Combine whole records that fit into one datagram (RFC 6347 §4.1.1).
  for (size_t at = 0; at + kRecordHeaderBytes <= bytes.size();) {
    const size_t end = at + kRecordHeaderBytes + read_u16(bytes, at + kRecordHeaderBytes - 2);
    if (end > bytes.size()) break;
    if (datagrams.empty() || datagrams.back().size() + (end - at) > kMaxDatagram) datagrams.emplace_back();
    datagrams.back().insert(datagrams.back().end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            bytes.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
  return datagrams;
}

}  // namespace carillon
