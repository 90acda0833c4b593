// TLS client based on the OpenSSL in Node. Verifies certificates and host names.
#pragma once

#include <string>

#include "net/transport.hpp"

namespace carillon {

/// `authorities`: concatenated PEM certificates of trusted CAs. Returns an empty function if none is valid.
SecureTransports make_tls_client(const std::string& authorities);

}  // namespace carillon
