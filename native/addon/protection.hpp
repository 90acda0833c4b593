// How packets are protected: a MediaProtection of src/domain/call/needs.ts.
#pragma once

#include <memory>
#include <optional>

#include "addon/arguments.hpp"
#include "core/rtp/protection.hpp"
#include "tls/dtls_session.hpp"

namespace carillon {

struct Protection {
  /// None as long as keys are exchanged by `dtls`.
  std::unique_ptr<PacketProtection> packets;
  std::optional<DtlsTerms> dtls;
};

/// 'none'; { suite, send, receive, receiveMkiBytes }: keys are bytes, master key and salt in one; or { role,
/// hash, fingerprint }: keys by DTLS, with the peer whose certificate has this digest.
Protection protection_of(Argument value);

}  // namespace carillon
