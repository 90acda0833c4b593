// Conversion between Address and socket API addresses.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "core/base/address.hpp"

namespace carillon {

/// Fills `out` and returns the length of its content. `on_dual_stack`: for an IPv6 socket that also sends
/// over IPv4.
socklen_t to_sockaddr(const Address& address, sockaddr_storage& out, bool on_dual_stack = false);

/// Returns an address without a family if it is not IPv4 or IPv6. An IPv4-mapped address becomes IPv4.
Address from_sockaddr(const sockaddr_storage& from);

using IpText = std::array<char, INET6_ADDRSTRLEN>;
/// Returns the text form of the IP address, zero-terminated; empty without an address. Does not allocate.
IpText ip_text(const Address& address);

}  // namespace carillon
