#include "engine/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace carillon {

namespace {
/// Prefix of IPv4 addresses on a dual-stack socket (RFC 4291 §2.5.5.2).
constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
}  // namespace

socklen_t to_sockaddr(const Address& address, sockaddr_storage& out, bool on_dual_stack) {
  std::memset(&out, 0, sizeof(out));
  if (address.family == Address::Family::ipv4 && !on_dual_stack) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.ip.data(), sizeof(in.sin_addr));
    std::memcpy(&out, &in, sizeof(in));
    return sizeof(in);
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(address.port);
  if (address.family == Address::Family::ipv4) {
    std::memcpy(&in.sin6_addr, kMapped.data(), kMapped.size());
    std::memcpy(&in.sin6_addr.s6_addr[kMapped.size()], address.ip.data(), sizeof(in_addr));
  } else {
    std::memcpy(&in.sin6_addr, address.ip.data(), sizeof(in.sin6_addr));
  }
  std::memcpy(&out, &in, sizeof(in));
  return sizeof(in);
}

Address from_sockaddr(const sockaddr_storage& from) {
  Address address;
  if (from.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &from, sizeof(in));
    address.family = Address::Family::ipv4;
    address.port = ntohs(in.sin_port);
    std::memcpy(address.ip.data(), &in.sin_addr, sizeof(in.sin_addr));
  } else if (from.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &from, sizeof(in));
    address.port = ntohs(in.sin6_port);
    if (std::memcmp(&in.sin6_addr, kMapped.data(), kMapped.size()) == 0) {
      address.family = Address::Family::ipv4;
      std::memcpy(address.ip.data(), &in.sin6_addr.s6_addr[kMapped.size()], sizeof(in_addr));
    } else {
      address.family = Address::Family::ipv6;
      std::memcpy(address.ip.data(), &in.sin6_addr, sizeof(in.sin6_addr));
    }
  }
  return address;
}

IpText ip_text(const Address& address) {
  IpText text{};
  if (address.family == Address::Family::none) return text;
  const int family = address.family == Address::Family::ipv4 ? AF_INET : AF_INET6;
  static_cast<void>(inet_ntop(family, address.ip.data(), text.data(), text.size()));
  return text;
}

}  // namespace carillon
