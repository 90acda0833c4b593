#include "core/ice/ice_lite.hpp"

#include <algorithm>

namespace carillon {

namespace {
constexpr uint16_t kBadRequest = 400;
constexpr uint16_t kUnauthenticated = 401;
constexpr uint16_t kUnknownAttribute = 420;
}  // namespace

/// Returns the credentials that match the username `ours:theirs` (RFC 8445 §7.2.2). Before the peer's
/// description arrives, its part is unknown and not checked.
const IceCredentials* IceLite::session_of(const StunMessage& request) const {
  const size_t colon = request.username.find(':');
  if (colon == std::string_view::npos) return nullptr;
  const std::string_view ours = request.username.substr(0, colon);
  const std::string_view theirs = request.username.substr(colon + 1);
  const auto names = [&](const IceCredentials& session) {
    return ours == session.local_ufrag && (session.remote_ufrag.empty() || theirs == session.remote_ufrag);
  };
  if (names(credentials_)) return &credentials_;
  return before_ && names(*before_) ? &*before_ : nullptr;
}

bool IceLite::from_elsewhere(const StunTransaction& transaction, const Address& source) {
  const auto known = std::ranges::find(checks_, transaction, &Check::transaction);
  if (known != checks_.end()) return known->source != source;
  checks_[next_check_] = {transaction, source};
  next_check_ = (next_check_ + 1) % checks_.size();
  return false;
}

IceLite::Outcome IceLite::receive(Bytes datagram, const Address& source, Nanos now) {
  const std::optional<StunMessage> message = parse_stun(datagram);
  if (!message || message->kind != StunKind::request) return {};
  if (message->integrity_at == 0 || message->username.empty()) {
    return {stun_error(*message, kBadRequest, answer_)};
  }
  const IceCredentials* const session = session_of(*message);
  if (session == nullptr || !stun_authentic(*message, datagram, session->local_password, hmac_)) {
    return {stun_error(*message, kUnauthenticated, answer_)};
  }
  if (message->unknown_count > 0) return {stun_error(*message, kUnknownAttribute, answer_)};
  if (from_elsewhere(message->transaction, source)) return {};

  const Bytes answer = stun_success(*message, source, session->local_password, hmac_, answer_);
  const bool moved = moves_peer(*message, *session, source);
  if (moved) peer_ = source;
  if (source == peer_) checked_at_ = now;
  return {answer, moved, source == peer_};
}

bool IceLite::admits_keys(const Address& source, Nanos now) {
  if (peer_.port == 0 || source != peer_) return false;
  if (now - keys_since_ >= kKeyInterval) {
    keys_since_ = now;
    key_datagrams_ = 0;
  }
  if (key_datagrams_ == kMaxKeyDatagrams) return false;
  ++key_datagrams_;
  return true;
}

/// Handles a valid check. It may change the address until a pair is nominated. After a restart, the old
/// address stays until the new nomination.
bool IceLite::moves_peer(const StunMessage& request, const IceCredentials& session, const Address& source) {
  const bool open = peer_.port == 0 || (!nominated_ && !before_);
  if (request.use_candidate && &session == &credentials_) {
    nominated_ = true;
    before_.reset();
  }
  return source != peer_ && (request.use_candidate || open);
}

void IceLite::follow(const IceLite& before) {
  // After several restarts, keep the session of the last nomination.
  before_ = before.before_ ? before.before_ : before.credentials_;
  peer_ = before.peer_;
  checked_at_ = before.checked_at_;
  checks_ = before.checks_;
  next_check_ = before.next_check_;
}

}  // namespace carillon
