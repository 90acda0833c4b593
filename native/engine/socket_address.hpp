// Conversion between Address and socket API addresses.
#pragma once

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>

#include "core/base/address.hpp"

namespace carillon {

/// Fills `out` and returns the length of its content. `on_dual_stack`: for an IPv6 socket that also sends
/// over IPv4.
socklen_t to_sockaddr(const Address& address, sockaddr_storage& out, bool on_dual_stack = false);

/// Returns an address without a family if it is not IPv4 or IPv6. An IPv4-mapped address becomes IPv4.
Address from_sockaddr(const sockaddr_storage& from);

/// Text of an address with its interface.
using IpText = std::array<char, INET6_ADDRSTRLEN + 1 + IF_NAMESIZE>;
/// Returns the text form of the IP address, zero-terminated; empty without an address. Does not allocate. A
/// link-local address has the interface on which it was received: `fe80::7%eth0` (RFC 4007 §11).
IpText ip_text(const Address& address);

/// Reads an IP address. A link-local address may have an interface of this machine, as in `ip_text`.
std::optional<Address> parse_address(const std::string& ip, uint16_t port);

}  // namespace carillon
