// Addresses as the socket calls want them.
#pragma once

#include <sys/socket.h>

#include "core/base/address.hpp"

namespace carillon {

/// Fills `out` and returns the length of what it holds.
socklen_t to_sockaddr(const Address& address, sockaddr_storage& out);

}  // namespace carillon
