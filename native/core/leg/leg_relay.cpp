// Relays packets from the far end without a jitter buffer, with inaudible transitions between decoding and
// relaying.
#include <algorithm>
#include <cstdlib>

#include "core/dsp/fade.hpp"
#include "core/leg/leg.hpp"

namespace carillon {

namespace {
constexpr size_t kDtxPayload = 2;
/// Maximum step at the beginning of a packet that causes no audible click.
constexpr Sample kNearlySilent = 200;
}  // namespace

/// Returns true if the far end is the only audio source.
bool Leg::silent_itself() const {
  return !digits_.busy() && limiter_.rests() &&
         std::ranges::all_of(players_.all(), [](const auto& player) { return player->finished(); }) &&
         std::ranges::none_of(streams_.all(), [](const auto& stream) { return stream->plays(); });
}

/// Returns true if the far end's packet can be relayed without decoding.
bool Leg::carries(const Leg& from, const ReceivePath::Outcome& received) const {
  const ReceiveConfig& theirs = from.receive_.config();
  return received.packet.payload_type == theirs.payload_type &&
         received.packet.payload.size() <= PacketRoom::kLongestPayload &&
         carries_over(theirs.coding, send_.config().coding) &&
         from.receive_.rates().clock == send_.rates().clock;
}

void Leg::relay(Leg& from, const ReceivePath::Outcome& received, Nanos arrival, PacketSink& sink) {
  if (relay_.ends() || !can_send() || (!relays() && !silent_itself())) return;
  if (received.kind == Received::comfort && relays()) {
    relay_pause(from, received, arrival, sink);
    return;
  }
  if (received.kind != Received::audio) {
    send_.leave_out(received.sequence);
    if (relays() && transcodes_ && from.arrivals_) from.arrivals_->leave_out(received.sequence);
    return;
  }
  if (!relays() && !relay_.may_start(arrival)) return;
  const bool carriable = carries(from, received);
  const RtpTicks duration = carriable ? from.receive_.duration(received.packet) : RtpTicks();
  const bool fits = carriable && duration == send_.packet_ticks();
  if (fits) relay_.fitted();
  // Once relaying has started, packets of other lengths, such as the last of a talkspurt, are relayed too.
  if (carriable && (relays() ? !transcodes_ : fits)) {
    const Bytes packet = carry(from, received, duration, arrival);
    if (!packet.empty()) sink.send(config_.handle, receive_.source().target(), packet);
    if (!fits && relay_.unfit()) relay_.stop();
  } else if (relays() && !transcodes_) {
    relay_.refused(arrival);
  } else if (relays() || !carriable || relay_.unfit()) {
    transcode(from, received, arrival, sink);
  }
}

/// Relays comfort noise if the peer supports it. Otherwise noise is generated in composed audio.
void Leg::relay_pause(Leg& from, const ReceivePath::Outcome& received, Nanos arrival, PacketSink& sink) {
  const bool described = !received.packet.payload.empty();
  if (described && !transcodes_ && send_.config().comfort_noise &&
      from.receive_.rates().clock == send_.rates().clock) {
    relay_.relayed_comfort(arrival, config_.keep_alive);
    const Bytes packet = send_.relay({received.packet, Coding::comfort, received.sequence,
                                      from.receive_.sequence_era(), RtpTicks(), arrival},
                                     {});
    if (!packet.empty()) sink.send(config_.handle, receive_.source().target(), packet);
    return;
  }
  send_.leave_out(received.sequence);
  if (transcodes_ && from.arrivals_) from.arrivals_->leave_out(received.sequence);
  if (described) relay_.stop();
}

/// Relays a packet and returns the one to send, valid as long as packets of SendPath, or an empty span.
Bytes Leg::carry(Leg& from, const ReceivePath::Outcome& received, RtpTicks duration, Nanos arrival) {
  const SendPath::Relayed relayed{received.packet,   from.receive_.config().coding,
                                  received.sequence, from.receive_.sequence_era(),
                                  duration,          arrival};
  std::array<Sample, JitterBuffer::kLongestNewest> room;
  std::span<Sample> blended;
  if (!relays() && relay_.far_heard() && from.rate() == send_.rate()) {
    blended = from.catch_up_to_newest(relayed.duration, room);
    if (steps_) smooth_step(last_sent_, blended, fade_samples(send_.rate()));
  }
  steps_ = false;
  const bool in_dtx = send_.config().coding == Coding::opus && received.packet.payload.size() <= kDtxPayload;
  transcodes_ = false;
  if (from.arrivals_) from.arrivals_->stop();
  relay_.relayed(arrival, in_dtx);
  return send_.relay(relayed, blended);
}

bool Leg::relay_goes_on(Nanos now) const {
  return far_end_ != nullptr && !relay_.ends() && now < relay_.until() && can_send() && silent_itself();
}

void Leg::end_relay(Nanos now) {
  const std::optional<bool> cut_joins = relay_.cut_joins();
  const bool heard = relay_.end(now);
  if (far_end_ != nullptr) far_end_->begin_to_listen();
  send_.end_relay(now);
  if (needs_no_frames()) to_line_.reset();
  const bool joins = cut_joins ? *cut_joins : heard && continue_relayed();
  relay_.join_next(heard && joins);
}

/// Extrapolates the relayed audio at the rate of the audio that follows. Returns false if it is unknown.
bool Leg::continue_relayed() {
  if (far_end_ == nullptr) return false;
  if (const SampleRate needed = needed_line_rate(); transcodes_ && needed != send_.rate())
    send_.put_at(needed);
  const size_t length =
      std::min(relay_.continuation().size(), RelayState::kJoinFrames * frame_samples(send_.rate()));
  return far_end_->go_on_after_relay(send_.rate(), relay_.continuation().first(length));
}

void Leg::set_far_end(FarEnd* far_end) {
  if (relays() && far_end != far_end_ && !relay_.cut_joins()) relay_.cut(continue_relayed());
  if (!relays() && far_end != far_end_) steps_ = last_sent_ != 0;
  far_end_ = far_end;
  to_line_.reset();
}

/// Listeners hear this leg's decoded audio some frames late. Returns the audio from their position up to the
/// newest packet of this duration. Empty if it is silent there.
std::span<Sample> Leg::catch_up_to_newest(RtpTicks duration, std::span<Sample> room) {
  Frame before(rate());
  receive_.audio().hear_on(before.samples());
  if (std::ranges::all_of(before, [](Sample sample) { return std::abs(sample) < kNearlySilent; })) return {};
  const size_t samples = receive_.rates().samples(duration).count();
  const std::span<Sample> newest = room.first(std::min(samples, room.size()));
  receive_.audio().hear_newest(newest, {});
  const size_t over = std::min(before.size(), newest.size());
  crossfade(before.samples().first(over), newest.first(over));
  return newest;
}

bool Leg::go_on_after_relay(SampleRate rate, std::span<Sample> out) {
  if (arrivals_ && arrivals_->running()) {
    arrivals_->go_on(rate, out);
    return true;
  }
  if (rate != this->rate()) return false;
  Frame newest(rate);
  receive_.audio().hear_newest(newest.samples(), out);
  return true;
}

}  // namespace carillon
