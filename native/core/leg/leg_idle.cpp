// Determines when a leg is idle and for how long, and which packets it sends while idle.
#include <algorithm>

#include "core/leg/leg.hpp"

namespace carillon {

namespace {
/// Comfort noise level in dB below overload: a quiet room on a good line.
constexpr uint8_t kComfortLevel = 70;
}  // namespace

/// Returns true if the leg is silent in both directions: peer, playback, digits, streams and taps.
bool Leg::quiet(Nanos now) const {
  if (hears(now) || digits_.busy() || !streams_.empty() || !taps_.empty()) return false;
  if (far_end_ != nullptr && far_end_->may_speak(now)) return false;
  return std::ranges::all_of(players_.all(), [](const auto& player) { return player->finished(); });
}

/// Returns true if no packet is due: there is no audio and the keep-alive interval has not expired.
bool Leg::pauses(Nanos now) const {
  if (!quiet(now) || send_.pending()) return false;
  return !can_send() || (sent_at_ && now < *sent_at_ + config_.keep_alive);
}

/// Returns true if a comfort noise packet is due during silence. The first packet is always audio, because
/// some peers learn our address from it.
bool Leg::reports_silence(Nanos now) const {
  if (!send_.config().comfort_noise.has_value() || config_.keep_alive <= kFrameTime || !sent_at_)
    return false;
  if (comforts_ && now < *sent_at_ + config_.keep_alive) return false;
  return can_send() && !send_.pending() && quiet(now);
}

void Leg::send_comfort(PacketSink& sink) {
  const Bytes packet = send_.comfort_packet(kComfortLevel);
  if (!packet.empty()) sink.send(config_.handle, receive_.source().target(), packet);
  send_.pause(1);
}

std::optional<Nanos> Leg::idle_until(Nanos now) const {
  if (reports_silence(now)) return std::nullopt;
  const bool relays = only_relays(now);
  if (!relays && !pauses(now)) return std::nullopt;
  Nanos until = Nanos::max();
  if (relays) {
    until = std::min(relay_.until(), far_end_->held_until().value_or(Nanos::max()));
  } else if (can_send()) {
    until = *sent_at_ + config_.keep_alive;
  }
  if (config_.media_timeout > Nanos{} && configured_ && receiving_ && !timed_out_) {
    until = std::min(until, std::max(receive_.last_arrival(), expecting_since_) + config_.media_timeout);
  }
  if (send_.packets() > 0) until = std::min(until, rtcp_.next());
  return until;
}

}  // namespace carillon
