// What ICMP says of datagrams that a UDP socket has sent (RFC 1122 §4.1.3.3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "engine/udp_socket.hpp"

namespace carillon {

/// Datagrams of ours that did not arrive, by how they began.
class IcmpErrors {
 public:
  /// Errors read in one turn: a flood of forged ones shall not hold up everything else.
  static constexpr int kMost = 64;

  /// From now on the kernel keeps what ICMP says of the socket's datagrams.
  static void ask_for(const UdpSocket& socket);

  /// An error that a system call on such a socket may return because of another datagram.
  static bool may_be_anothers(int error);

  /// As much as the ICMP message quotes of the next datagram that met no host or no port; nothing: there are
  /// no more, or enough were read. Valid until the next call.
  std::optional<Bytes> next(const UdpSocket& socket);

 private:
  int read_ = 0;
  std::array<uint8_t, 1024> bytes_;
};

}  // namespace carillon
