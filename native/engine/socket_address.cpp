#include "engine/socket_address.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace carillon {

namespace {
/// Prefix of IPv4 addresses on a dual-stack socket (RFC 4291 §2.5.5.2).
constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// Place of the interface of a link-local address within its zero bits (RFC 4291 §2.5.6). An Address thus
/// names one host, and comparisons need no further field.
constexpr size_t kZoneOffset = 4;

bool is_link_local(const uint8_t* ip) { return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80; }

uint32_t zone_of(const Address& address) {
  uint32_t zone = 0;
  if (address.family == Address::Family::ipv6 && is_link_local(address.ip.data())) {
    std::memcpy(&zone, &address.ip[kZoneOffset], sizeof(zone));
  }
  return zone;
}

void set_zone(Address& address, uint32_t zone) {
  if (is_link_local(address.ip.data())) std::memcpy(&address.ip[kZoneOffset], &zone, sizeof(zone));
}

/// Returns 0 if there is no such interface.
uint32_t zone_named(const std::string& name) {
  uint32_t zone = 0;
  const char* const end = name.data() + name.size();
  const auto [read, error] = std::from_chars(name.data(), end, zone);
  return error == std::errc{} && read == end ? zone : if_nametoindex(name.c_str());
}
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
    in.sin6_scope_id = zone_of(address);
    if (in.sin6_scope_id != 0) std::memset(&in.sin6_addr.s6_addr[kZoneOffset], 0, sizeof(uint32_t));
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
      set_zone(address, in.sin6_scope_id);
    }
  }
  return address;
}

IpText ip_text(const Address& address) {
  IpText text{};
  if (address.family == Address::Family::none) return text;
  const int family = address.family == Address::Family::ipv4 ? AF_INET : AF_INET6;
  const uint32_t zone = zone_of(address);
  if (zone == 0) {
    static_cast<void>(inet_ntop(family, address.ip.data(), text.data(), text.size()));
    return text;
  }
  Address plain = address;
  set_zone(plain, 0);
  static_cast<void>(inet_ntop(family, plain.ip.data(), text.data(), text.size()));
  char* const end = text.data() + std::strlen(text.data());
  *end = '%';
  // An interface that no longer exists has no name.
  if (if_indextoname(zone, end + 1) == nullptr) {
    *std::to_chars(end + 1, end + IF_NAMESIZE, zone).ptr = '\0';
  }
  return text;
}

std::optional<Address> parse_address(const std::string& ip, uint16_t port) {
  Address address;
  address.port = port;
  if (inet_pton(AF_INET, ip.c_str(), address.ip.data()) == 1) {
    address.family = Address::Family::ipv4;
    return address;
  }
  const size_t mark = ip.find('%');
  if (inet_pton(AF_INET6, ip.substr(0, mark).c_str(), address.ip.data()) != 1) return std::nullopt;
  address.family = Address::Family::ipv6;
  // No peer writes the zone in the bits that hold it here.
  set_zone(address, 0);
  if (mark == std::string::npos) return address;
  const uint32_t zone = zone_named(ip.substr(mark + 1));
  if (zone == 0 || !is_link_local(address.ip.data())) return std::nullopt;
  set_zone(address, zone);
  return address;
}

}  // namespace carillon
