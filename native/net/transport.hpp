// Bytes over a connected, non-blocking TCP socket: plain, or through TLS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/bytes.hpp"

namespace carillon {

struct IoResult {
  enum class Kind : uint8_t {
    /// `bytes` were moved; of a handshake: it is complete.
    done,
    /// Try again once the socket can be read.
    wants_read,
    /// Try again once the socket can be written.
    wants_write,
    /// The peer has ended its side.
    ended,
    /// failure() says why.
    failed,
  };
  Kind kind = Kind::failed;
  size_t bytes = 0;
};

/// Why a connection failed: an errno, a certificate's verification result (X509_V_ERR_*), or words.
struct TransportFailure {
  enum class Kind : uint8_t { system, certificate, other };
  Kind kind = Kind::other;
  uint32_t code = 0;
  std::string words;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual IoResult handshake() = 0;
  virtual IoResult read(std::span<uint8_t> out) = 0;
  /// May take a part only.
  virtual IoResult write(Bytes bytes) = 0;
  /// Bytes have been received that read() has not handed out: the socket need not become readable for them.
  [[nodiscard]] virtual bool has_pending() const { return false; }
  [[nodiscard]] virtual TransportFailure failure() const = 0;
};

/// Over a descriptor that stays the caller's.
std::unique_ptr<Transport> make_tcp_transport(int fd);

/// Makes the encrypted transport of a client: `host` is the name or address that the certificate must be for.
using SecureTransports = std::function<std::unique_ptr<Transport>(int fd, const std::string& host)>;

}  // namespace carillon
