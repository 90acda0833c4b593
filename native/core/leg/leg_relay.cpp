// Packets that a leg passes on as its far end received them, without a jitter buffer, and how it goes over
// from decoding to that and back unheard.
#include <algorithm>
#include <cstdlib>

#include "core/dsp/fade.hpp"
#include "core/leg/leg.hpp"

namespace carillon {

namespace {
/// Nothing came for so long: silence is made here, as for any peer that stops sending.
constexpr Nanos kPatience = 200 * kMillisecond;
/// An Opus sender with DTX is heard again each 400 ms (RFC 7587 §3.1.3).
constexpr Nanos kPatienceInDtx = 600 * kMillisecond;
constexpr size_t kDtxPayload = 2;
/// A sender that changes between codings or lengths of packets is decoded for so long after each.
constexpr Nanos kUntilSettled = 2 * kSecond;
/// What was relayed so long ago is not blended with what follows.
constexpr Nanos kStillHeard = 60 * kMillisecond;

/// A step of so much at the beginning of a packet is no click.
constexpr Sample kNearlySilent = 200;
}  // namespace

/// Nothing but the far end is to be heard.
bool Leg::silent_itself() const {
  return !digits_.busy() && limiter_.rests() &&
         std::ranges::all_of(players_.all(), [](const auto& player) { return player->finished(); }) &&
         std::ranges::none_of(streams_.all(), [](const auto& stream) { return stream->plays(); });
}

/// The far end's packet is as one of ours would be. Once packets are relayed, one of another length (the last
/// of a talkspurt, say) goes with them.
bool Leg::may_relay(const Leg& from, const ReceivePath::Outcome& received, Nanos arrival) const {
  const ReceiveConfig& theirs = from.receive_.config();
  return received.packet.payload_type == theirs.payload_type &&
         carries_over(theirs.coding, send_.config().coding) &&
         from.receive_.rates().clock == send_.rates().clock &&
         (relays_ ||
          (arrival >= relays_not_before_ && from.receive_.duration(received.packet) == send_.packet_ticks()));
}

Bytes Leg::relay(Leg& from, const ReceivePath::Outcome& received, Nanos arrival) {
  if (!can_send() || (!relays_ && !silent_itself())) return {};
  if (received.kind != Received::audio) {
    send_.leave_out(received.sequence);
    return {};
  }
  if (!may_relay(from, received, arrival)) {
    if (relays_) relays_until_ = arrival;
    relays_not_before_ = arrival + kUntilSettled;
    return {};
  }
  const SendPath::Relayed relayed{received.packet,
                                  from.receive_.config().coding,
                                  received.sequence,
                                  from.receive_.sequence_era(),
                                  from.receive_.duration(received.packet),
                                  arrival};
  std::array<Sample, JitterBuffer::kLongestNewest> room;
  std::span<Sample> blended;
  if (!relays_ && far_heard_ && from.rate() == send_.rate()) {
    blended = from.catch_up_to_newest(relayed.duration, room);
  }
  relays_ = true;
  far_heard_ = false;
  relayed_at_ = arrival;
  const bool in_dtx = send_.config().coding == Coding::opus && received.packet.payload.size() <= kDtxPayload;
  relays_until_ = arrival + (in_dtx ? kPatienceInDtx : kPatience);
  return send_.relay(relayed, blended);
}

bool Leg::relay_goes_on(Nanos now) const {
  return far_end_ != nullptr && now < relays_until_ && can_send() && silent_itself();
}

void Leg::end_relay(Nanos now) {
  relays_ = false;
  if (far_end_ != nullptr) far_end_->begin_to_listen();
  send_.end_relay(now);
  const bool heard = now - relayed_at_ < kStillHeard;
  join_left_ =
      heard && far_end_ != nullptr && far_end_->go_on_after_relay(send_.rate(), join_) ? kJoinFrames : 0;
}

/// Who hears this leg decoded does so some frames late: from there to the present, within the newest packet,
/// whose duration is this. Empty: it is silent where he is.
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
  if (rate != this->rate()) return false;
  Frame newest(rate);
  receive_.audio().hear_newest(newest.samples(), out);
  return true;
}

/// The far end is decoded from its next visit on, at the latest a frame after this one.
void Leg::join_on(Frame& sent) {
  const size_t from = (kJoinFrames - join_left_) * sent.size();
  const std::span<const Sample> before = std::span(join_).subspan(from, sent.size());
  --join_left_;
  if (far_missing_ && join_left_ > 0) {
    sent = AudioView{sent.rate(), before};
    return;
  }
  crossfade(before, sent.samples());
  join_left_ = 0;
}

}  // namespace carillon
