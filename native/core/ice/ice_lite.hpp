// ICE lite agent (RFC 8445 §2.5): it offers one candidate, answers connectivity checks and sends to the
// address that the peer nominates. Valid checks also grant consent to send (RFC 7675).
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
  /// Consent expiry (RFC 7675 §5.1).
  static constexpr Nanos kConsent = 30 * kSecond;

  IceLite(IceCredentials credentials, HmacSha1 hmac) : credentials_(std::move(credentials)), hmac_(hmac) {}

  struct Outcome {
    /// Response to send to the datagram's source; valid until the next call.
    Bytes answer;
    /// True if the peer's address changed.
    bool moved = false;
    /// True if this is a valid check from the peer's address.
    bool from_peer = false;
  };
  Outcome receive(Bytes datagram, const Address& source, Nanos now);

  /// Address of the peer: the last nominated one, or the first validated one before a nomination.
  [[nodiscard]] const Address& peer() const { return peer_; }
  /// Returns true if a key exchange datagram comes from the peer and not too many came shortly before. All
  /// legs share the thread and the queue of the key exchange.
  bool admits_keys(const Address& source, Nanos now);
  /// Returns true if consent has expired because of missing checks (RFC 7675 §5.1). Sending must then stop.
  [[nodiscard]] bool expired(Nanos now) const { return peer_.port != 0 && now - checked_at_ > kConsent; }
  [[nodiscard]] const IceCredentials& credentials() const { return credentials_; }
  /// Continues after an ICE restart (§9). Until the peer nominates again, the address stays and checks with
  /// the old credentials are also answered.
  void follow(const IceLite& before);

 private:
  static constexpr size_t kKeptTransactions = 64;
  /// Several times the datagrams of a handshake. A peer repeats those that are dropped.
  static constexpr int kMaxKeyDatagrams = 50;
  static constexpr Nanos kKeyInterval = 100 * kMillisecond;
  struct Check {
    StunTransaction transaction{};
    Address source;
  };

  [[nodiscard]] const IceCredentials* session_of(const StunMessage& request) const;
  bool moves_peer(const StunMessage& request, const IceCredentials& session, const Address& source);
  bool from_elsewhere(const StunTransaction& transaction, const Address& source);

  IceCredentials credentials_;
  /// Credentials of the previous session, until the peer nominates in the current one.
  std::optional<IceCredentials> before_;
  HmacSha1 hmac_;
  Address peer_;
  bool nominated_ = false;
  Nanos checked_at_{};
  /// Recent checks. Each transaction is answered to one address only, so a replayed check from another
  /// address has no effect.
  std::array<Check, kKeptTransactions> checks_{};
  size_t next_check_ = 0;
  /// Begin of the current interval, and the number of key exchange datagrams in it.
  Nanos keys_since_{};
  int key_datagrams_ = 0;
  std::array<uint8_t, kMaxStunAnswer> answer_{};
};

}  // namespace carillon
