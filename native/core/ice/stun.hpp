// STUN for ICE (RFC 8489, RFC 8445 §7): parses Binding requests and writes their responses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"

namespace carillon {

using Sha1Digest = std::array<uint8_t, 20>;
/// HMAC-SHA1 function, supplied by the caller.
using HmacSha1 = Sha1Digest (*)(Bytes key, Bytes text);

using StunTransaction = std::array<uint8_t, 12>;

enum class StunKind : uint8_t { request, indication, success, error };

/// Well-formed Binding message with a correct fingerprint. Refers to the received bytes.
struct StunMessage {
  /// Maximum number of unknown comprehension-required attribute types listed in a response.
  static constexpr size_t kMaxUnknown = 8;

  StunKind kind = StunKind::request;
  StunTransaction transaction{};
  std::string_view username;
  bool use_candidate = false;
  std::array<uint16_t, kMaxUnknown> unknown{};
  size_t unknown_count = 0;
  /// Offset of MESSAGE-INTEGRITY. 0: not present.
  size_t integrity_at = 0;
};

/// Returns nullopt if the datagram is not a STUN Binding message or its fingerprint is missing or wrong.
std::optional<StunMessage> parse_stun(Bytes datagram);

/// Returns true if MESSAGE-INTEGRITY matches this password.
bool stun_authentic(const StunMessage& message, Bytes datagram, std::string_view password, HmacSha1 hmac);

inline constexpr size_t kMaxStunAnswer = 128;

/// Write a response to `out` and return the part of `out` that it uses.
Bytes stun_success(const StunMessage& request, const Address& from, std::string_view password, HmacSha1 hmac,
                   std::span<uint8_t, kMaxStunAnswer> out);
/// `code`: 400, 401 or 420.
Bytes stun_error(const StunMessage& request, uint16_t code, std::span<uint8_t, kMaxStunAnswer> out);

}  // namespace carillon
