// Which records of a datagram may reach a DTLS 1.2 handshake (RFC 6347 §4.1.2.7): malformed, unexpected and
// unauthenticated ones are discarded silently. No cryptography: records of epoch 1 are checked by their own
// key.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"

namespace carillon {

class RecordFilter {
 public:
  /// `client`: our side begins the handshake, so the peer's messages are those of a server.
  explicit RecordFilter(bool client) : client_(client) {}

  /// The records of a datagram that may be processed, in their order; empty: none.
  [[nodiscard]] std::vector<uint8_t> accepted(Bytes datagram);
  /// The handshake is complete: from now on records without authentication (epoch 0) are discarded.
  void secured() { secured_ = true; }

 private:
  /// Message numbers of a handshake; no message of a peer has a higher one.
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
  /// Type and length of the first fragment of each message: all its fragments must agree.
  struct Known {
    uint8_t type = 0;
    size_t length = 0;
  };
  std::array<Known, kMessages> known_{};
};

}  // namespace carillon
