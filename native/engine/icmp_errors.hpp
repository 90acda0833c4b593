// ICMP errors for datagrams sent on a UDP socket (RFC 1122 §4.1.3.3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "engine/udp_socket.hpp"

namespace carillon {

/// Reads the beginnings of undelivered datagrams.
class IcmpErrors {
 public:
  /// Maximum number of errors read per call sequence, so that forged errors cannot block other work.
  static constexpr int kMost = 64;

  /// Enables ICMP error reporting for the socket.
  static void ask_for(const UdpSocket& socket);

  /// Returns true for errors that a system call may return because of an earlier datagram.
  static bool may_be_anothers(int error);

  /// Returns the part of the next undelivered datagram that the ICMP message quotes. Returns nullopt if there
  /// are no more or the limit is reached. Valid until the next call.
  std::optional<Bytes> next(const UdpSocket& socket);

 private:
  int read_ = 0;
  std::array<uint8_t, 1024> bytes_;
};

}  // namespace carillon
