// STUN as ICE uses it (RFC 8489, RFC 8445 §7): reading Binding requests, writing their answers.
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
/// HMAC-SHA1; the cryptography is not this layer's.
using HmacSha1 = Sha1Digest (*)(Bytes key, Bytes text);

using StunTransaction = std::array<uint8_t, 12>;

enum class StunKind : uint8_t { request, indication, success, error };

/// A well-formed Binding message whose fingerprint is right. It points into the received bytes.
struct StunMessage {
  /// Attributes of so many unknown types that have to be understood are named in an answer; more are not.
  static constexpr size_t kMaxUnknown = 8;

  StunKind kind = StunKind::request;
  StunTransaction transaction{};
  std::string_view username;
  bool use_candidate = false;
  std::array<uint16_t, kMaxUnknown> unknown{};
  size_t unknown_count = 0;
  /// Where MESSAGE-INTEGRITY begins; 0: it has none.
  size_t integrity_at = 0;
};

/// Nothing for what is no STUN Binding message, or one whose fingerprint is missing or wrong.
std::optional<StunMessage> parse_stun(Bytes datagram);

/// Whether its MESSAGE-INTEGRITY was made with this password.
bool stun_authentic(const StunMessage& message, Bytes datagram, std::string_view password, HmacSha1 hmac);

inline constexpr size_t kMaxStunAnswer = 128;

/// The answers; each returns what of `out` is the message.
Bytes stun_success(const StunMessage& request, const Address& from, std::string_view password, HmacSha1 hmac,
                   std::span<uint8_t, kMaxStunAnswer> out);
/// `code`: 400, 401 or 420.
Bytes stun_error(const StunMessage& request, uint16_t code, std::span<uint8_t, kMaxStunAnswer> out);

}  // namespace carillon
