// The lite side of ICE (RFC 8445 §2.5): it has one candidate, answers the peer's checks, and talks where the
// peer has nominated. That the peer knows the password is at the same time its consent to be sent to (RFC
// 7675).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/base/address.hpp"
#include "core/base/time.hpp"
#include "core/ice/stun.hpp"

namespace carillon {

struct IceCredentials {
  std::string local_ufrag;
  std::string local_password;
  std::string remote_ufrag;
  friend bool operator==(const IceCredentials&, const IceCredentials&) = default;
};

class IceLite {
 public:
  /// RFC 7675 §5.1.
  static constexpr Nanos kConsent = 30 * kSecond;

  IceLite(IceCredentials credentials, HmacSha1 hmac) : credentials_(std::move(credentials)), hmac_(hmac) {}

  struct Outcome {
    /// To be sent to where the datagram came from; valid until the next call.
    Bytes answer;
    /// The peer is to be talked to at another address than before.
    bool moved = false;
  };
  Outcome receive(Bytes datagram, const Address& source, Nanos now);

  /// Where the peer is: what it nominated last, before that the first address that it proved.
  [[nodiscard]] const Address& peer() const { return peer_; }
  [[nodiscard]] bool is_peer(const Address& source) const { return peer_.port != 0 && source == peer_; }
  /// The peer has not checked for so long that it must not be sent to any more (RFC 7675 §5.1).
  [[nodiscard]] bool expired(Nanos now) const { return peer_.port != 0 && now - checked_at_ > kConsent; }
  [[nodiscard]] const IceCredentials& credentials() const { return credentials_; }
  /// Takes the place of `before`. Until the peer nominates anew, its checks of before are answered too, and
  /// it stays where it was (§9).
  void follow(const IceLite& before);

 private:
  static constexpr size_t kKeptTransactions = 64;
  struct Check {
    StunTransaction transaction{};
    Address source;
  };

  [[nodiscard]] const IceCredentials* session_of(const StunMessage& request) const;
  bool moves_peer(const StunMessage& request, const IceCredentials& session, const Address& source);
  bool from_elsewhere(const StunTransaction& transaction, const Address& source);

  IceCredentials credentials_;
  /// Of the session that this one follows, until the peer has nominated in this one.
  std::optional<IceCredentials> before_;
  HmacSha1 hmac_;
  Address peer_;
  bool nominated_ = false;
  Nanos checked_at_{};
  /// A check is answered to one address only: one that was overheard and is sent again from elsewhere moves
  /// nothing.
  std::array<Check, kKeptTransactions> checks_{};
  size_t next_check_ = 0;
  std::array<uint8_t, kMaxStunAnswer> answer_{};
};

}  // namespace carillon
