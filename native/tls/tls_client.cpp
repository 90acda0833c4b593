#include "tls/tls_client.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "tls/openssl.hpp"

namespace carillon {

namespace {

using namespace openssl;

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> ignored;
  return inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

int clamped_size(size_t size) {
  return static_cast<int>(std::min(size, static_cast<size_t>(std::numeric_limits<int>::max())));
}

class TlsTransport final : public Transport {
 public:
  TlsTransport(std::shared_ptr<ssl_ctx_st> context, int fd, const std::string& host)
      : context_(std::move(context)), ssl_(SSL_new(context_.get())) {
    if (ssl_ == nullptr) return;
    if (SSL_set_fd(ssl_, fd) == 1 && expect(host)) return;
    // Fail if the certificate's name cannot be checked.
    SSL_free(ssl_);
    ssl_ = nullptr;
  }

  ~TlsTransport() override {
    if (ssl_ == nullptr) return;
    // Sends close_notify without waiting for the peer's. After a fatal error nothing may be sent.
    if (secured_ && !failed_) SSL_shutdown(ssl_);
    ERR_clear_error();
    SSL_free(ssl_);
  }

  IoResult handshake() override {
    if (ssl_ == nullptr) return fail();
    const IoResult result = outcome([&] { return SSL_connect(ssl_); });
    secured_ = result.kind == IoResult::Kind::done;
    return result;
  }

  IoResult read(std::span<uint8_t> out) override {
    return outcome([&] { return SSL_read(ssl_, out.data(), clamped_size(out.size())); });
  }

  IoResult write(Bytes bytes) override {
    return outcome([&] { return SSL_write(ssl_, bytes.data(), clamped_size(bytes.size())); });
  }

  [[nodiscard]] bool has_pending() const override { return SSL_has_pending(ssl_) == 1; }

  [[nodiscard]] TransportFailure failure() const override { return failure_; }

 private:
  /// Sets the name or address that the certificate must contain.
  bool expect(const std::string& host) {
    if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), host.c_str()) == 1;
    // The trailing dot of an absolute name is DNS syntax. Certificates and SNI do not use it (RFC 6066 §3).
    const std::string name = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
    // SNI carries names only, not addresses.
    return SSL_set1_host(ssl_, name.c_str()) == 1 &&
           SSL_ctrl(ssl_, kSetHostName, kHostNameType, const_cast<char*>(name.c_str())) == 1;
  }

  template <typename Call>
  IoResult outcome(Call call) {
    // The error queue belongs to the thread. Clear errors of other connections.
    ERR_clear_error();
    errno = 0;
    const int result = call();
    if (result > 0) return {IoResult::Kind::done, static_cast<size_t>(result)};
    const int system_error = errno;
    switch (SSL_get_error(ssl_, result)) {
      case kErrorWantRead:
        return {IoResult::Kind::wants_read, 0};
      case kErrorWantWrite:
        return {IoResult::Kind::wants_write, 0};
      case kErrorZeroReturn:
        return {IoResult::Kind::ended, 0};
      case kErrorSystem:
        if (system_error == 0) return {IoResult::Kind::ended, 0};
        failure_ = {TransportFailure::Kind::system, static_cast<uint32_t>(system_error), ""};
        failed_ = true;
        return {IoResult::Kind::failed, 0};
      default:
        return fail();
    }
  }

  IoResult fail() {
    failed_ = true;
    const unsigned long error = ERR_peek_last_error();
    // A peer that closes TCP without close_notify counts as a broken connection.
    if (secured_ && (error & kReasonMask) == kReasonUnexpectedEof) return {IoResult::Kind::ended, 0};
    const long verified = ssl_ == nullptr ? kVerifyOk : SSL_get_verify_result(ssl_);
    if (verified != kVerifyOk) {
      failure_ = {TransportFailure::Kind::certificate, static_cast<uint32_t>(verified), ""};
    } else {
      const char* const reason = ERR_reason_error_string(error);
      failure_ = {TransportFailure::Kind::other, 0,
                  std::string(secured_ ? "TLS failed: " : "the TLS handshake failed: ") +
                      (reason == nullptr ? "no reason" : reason)};
    }
    ERR_clear_error();
    return {IoResult::Kind::failed, 0};
  }

  std::shared_ptr<ssl_ctx_st> context_;
  ssl_st* ssl_;
  TransportFailure failure_;
  bool secured_ = false;
  bool failed_ = false;
};

/// Returns false if there is no certificate.
bool trust(ssl_ctx_st* context, const std::string& authorities) {
  bio_st* const text = BIO_new_mem_buf(authorities.data(), clamped_size(authorities.size()));
  x509_store_st* const store = SSL_CTX_get_cert_store(context);
  bool any = false;
  while (x509_st* const certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr)) {
    any = X509_STORE_add_cert(store, certificate) == 1 || any;
    X509_free(certificate);
  }
  BIO_free(text);
  ERR_clear_error();  // the end of the text is reported as an error
  return any;
}

}  // namespace

SecureTransports make_tls_client(const std::string& authorities) {
  std::shared_ptr<ssl_ctx_st> context(SSL_CTX_new(TLS_client_method()), [](ssl_ctx_st* owned) {
    if (owned != nullptr) SSL_CTX_free(owned);
  });
  if (!context || !trust(context.get(), authorities)) return nullptr;
  SSL_CTX_set_verify(context.get(), kVerifyPeer, nullptr);
  SSL_CTX_ctrl(context.get(), kSetMinVersion, kTls12, nullptr);
  SSL_CTX_ctrl(context.get(), kSetMode, kPartialWrite | kMovingWriteBuffer | kReleaseBuffers, nullptr);
  // Without limits, a peer could occupy the thread with repeated handshakes or key updates. Disable
  // renegotiation (RFC 7525 §3.5), and return from each read after a record without data.
  SSL_CTX_set_options(context.get(), kNoRenegotiation);
  SSL_CTX_ctrl(context.get(), kClearMode, kAutoRetry, nullptr);
  // Read all available records with one system call instead of two calls per record.
  SSL_CTX_ctrl(context.get(), kSetReadAhead, 1, nullptr);
  return [context = std::move(context)](int fd, const std::string& host) -> std::unique_ptr<Transport> {
    return std::make_unique<TlsTransport>(context, fd, host);
  };
}

}  // namespace carillon
