// Transport address of an RTP peer, IPv4 or IPv6, without any socket type.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace carillon {

struct Address {
  enum class Family : uint8_t { none, ipv4, ipv6 };

  /// IP address in network byte order. An IPv4 address occupies the first four bytes; the rest is zero.
  std::array<uint8_t, 16> ip{};
  uint16_t port = 0;
  Family family = Family::none;
  /// True for the remote end of a TCP connection.
  bool stream = false;

  friend auto operator<=>(const Address&, const Address&) = default;
  friend bool operator==(const Address&, const Address&) = default;

  [[nodiscard]] bool sendable() const {
    if (family == Family::none || port == 0) return false;
    for (const uint8_t byte : ip) {
      if (byte != 0) return true;
    }
    return false;  // 0.0.0.0 and :: are the former notation for hold (RFC 3264 §8.4)
  }
};

/// Returns true if both addresses have the same IP address; ports are ignored.
inline bool same_host(const Address& a, const Address& b) {
  return a.family != Address::Family::none && a.family == b.family && a.ip == b.ip;
}

}  // namespace carillon
