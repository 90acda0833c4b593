// TLS of a client over the OpenSSL inside of Node, certificates and names verified.
#pragma once

#include <string>

#include "net/transport.hpp"

namespace carillon {

/// `authorities`: PEM certificates of whom to trust, one after the other. Nothing when not a single one could
/// be read.
SecureTransports make_tls_client(const std::string& authorities);

}  // namespace carillon
