#include "core/ice/ice_lite.hpp"

#include <algorithm>

namespace carillon {

namespace {
constexpr uint16_t kBadRequest = 400;
constexpr uint16_t kUnauthenticated = 401;
constexpr uint16_t kUnknownAttribute = 420;
}  // namespace

/// `ours:theirs` (RFC 8445 §7.2.2). Before the peer's description has come, theirs is not known.
bool IceLite::named_to_us(const StunMessage& request) const {
  const size_t colon = request.username.find(':');
  if (colon == std::string_view::npos || request.username.substr(0, colon) != credentials_.local_ufrag) {
    return false;
  }
  return credentials_.remote_ufrag.empty() || request.username.substr(colon + 1) == credentials_.remote_ufrag;
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
  if (!named_to_us(*message) || !stun_authentic(*message, datagram, credentials_.local_password, hmac_)) {
    return {stun_error(*message, kUnauthenticated, answer_)};
  }
  if (message->unknown_count > 0) return {stun_error(*message, kUnknownAttribute, answer_)};
  if (from_elsewhere(message->transaction, source)) return {};

  const bool moves = source != peer_ && (message->use_candidate || peer_.port == 0 || !nominated_);
  if (message->use_candidate) nominated_ = true;
  if (moves) peer_ = source;
  if (source == peer_) checked_at_ = now;
  return {stun_success(*message, source, credentials_.local_password, hmac_, answer_), moves};
}

void IceLite::follow(const IceLite& before) {
  peer_ = before.peer_;
  checked_at_ = before.checked_at_;
}

}  // namespace carillon
