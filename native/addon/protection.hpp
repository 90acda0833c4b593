// Packet protection of a leg: a MediaProtection of src/domain/call/needs.ts.
#pragma once

#include <memory>
#include <optional>

#include "addon/arguments.hpp"
#include "core/rtp/protection.hpp"
#include "tls/dtls_session.hpp"

namespace carillon {

struct Protection {
  /// Protection with known keys. Null if keys are negotiated with `dtls`.
  std::unique_ptr<PacketProtection> packets;
  std::optional<DtlsTerms> dtls;
};

/// 'none'; or { suite, send, receive, receiveMkiBytes }, where each key is master key and salt as one byte
/// array; or { role, hash, fingerprint }: DTLS with the peer that has this certificate fingerprint.
Protection protection_of(Argument value);

}  // namespace carillon
