// Addresses as the socket calls want them.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "core/base/address.hpp"

namespace carillon {

/// Fills `out` and returns the length of what it holds.
socklen_t to_sockaddr(const Address& address, sockaddr_storage& out);

/// Without a family where it is neither IPv4 nor IPv6.
Address from_sockaddr(const sockaddr_storage& from);

using IpText = std::array<char, INET6_ADDRSTRLEN>;
/// As people write it, ended by a zero; empty without an address. Allocates nothing.
IpText ip_text(const Address& address);

}  // namespace carillon
