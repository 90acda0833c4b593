// Byte stream over a connected, non-blocking TCP socket, with or without TLS.
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
    /// `bytes` were transferred, or the handshake is complete.
    done,
    /// Retry when the socket is readable.
    wants_read,
    /// Retry when the socket is writable.
    wants_write,
    /// The peer has closed its side.
    ended,
    /// The connection failed; see failure().
    failed,
  };
  Kind kind = Kind::failed;
  size_t bytes = 0;
};

/// Reason of a failure: an errno, a certificate verification result (X509_V_ERR_*) or a text.
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
  /// Writes bytes; may accept only a part.
  virtual IoResult write(Bytes bytes) = 0;
  /// Returns true if received bytes are buffered. The socket does not become readable for them.
  [[nodiscard]] virtual bool has_pending() const { return false; }
  [[nodiscard]] virtual TransportFailure failure() const = 0;
};

/// Creates a plain transport. The caller keeps ownership of `fd`.
std::unique_ptr<Transport> make_tcp_transport(int fd);

/// Creates an encrypted client transport. `host`: name or address that the certificate must contain.
using SecureTransports = std::function<std::unique_ptr<Transport>(int fd, const std::string& host)>;

}  // namespace carillon
