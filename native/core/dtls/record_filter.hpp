// Selects the records of a datagram that may reach a DTLS 1.2 handshake (RFC 6347 §4.1.2.7). Silently
// discards malformed, unexpected and unauthenticated records. No cryptography: the DTLS implementation
// authenticates records of epoch 1.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"

namespace carillon {

class RecordFilter {
 public:
  /// `client`: we act as client, so the peer's messages are those of a server.
  explicit RecordFilter(bool client) : client_(client) {}

  /// Returns the accepted records of a datagram in their original order. Empty if none is accepted.
  [[nodiscard]] std::vector<uint8_t> accepted(Bytes datagram);
  /// Marks the handshake as complete. Unauthenticated records (epoch 0) are then discarded.
  void secured() { secured_ = true; }

 private:
  /// Number of messages in a handshake, which bounds the peer's message numbers.
  static constexpr size_t kMessages = 10;
  static constexpr unsigned kMaxHelloVerifies = 3;
  struct Fragment {
    uint8_t type = 0;
    size_t length = 0;  // of the whole message
    uint16_t message = 0;
    size_t offset = 0;
    Bytes body;
  };

  [[nodiscard]] bool accepts(Bytes record);
  [[nodiscard]] bool accepts_handshake(Bytes fragments);
  [[nodiscard]] bool accepts(const Fragment& fragment);
  [[nodiscard]] bool is_expected(const Fragment& fragment) const;

  bool client_;
  bool secured_ = false;
  unsigned hello_verifies_ = 0;
  /// Type and length from the first fragment of each message. All its fragments must match.
  struct Known {
    uint8_t type = 0;
    size_t length = 0;
  };
  std::array<Known, kMessages> known_{};
};

}  // namespace carillon
