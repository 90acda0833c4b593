// Transport address of an RTP peer, IPv4 or IPv6, without any socket type.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace carillon {

struct Address {
  enum class Family : uint8_t { none, ipv4, ipv6 };

  /// Network byte order; an IPv4 address fills the first four bytes, the rest is zero.
  std::array<uint8_t, 16> ip{};
  uint16_t port = 0;
  Family family = Family::none;
  /// The far end of a TCP connection.
  bool stream = false;

  friend auto operator<=>(const Address&, const Address&) = default;
  friend bool operator==(const Address&, const Address&) = default;

  [[nodiscard]] bool sendable() const {
    if (family == Family::none || port == 0) return false;
    for (const uint8_t byte : ip) {
      if (byte != 0) return true;
    }
    return false;  // 0.0.0.0 and ::, the old way of saying hold (RFC 3264 §8.4)
  }
};

/// The same IP address, whatever the port.
inline bool same_host(const Address& a, const Address& b) {
  return a.family != Address::Family::none && a.family == b.family && a.ip == b.ip;
}

}  // namespace carillon
