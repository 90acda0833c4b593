// Relays packets from the far end without a jitter buffer, with inaudible transitions between decoding and
// relaying.
#include <algorithm>
#include <cstdlib>

#include "core/dsp/fade.hpp"
#include "core/leg/leg.hpp"

namespace carillon {

namespace {
/// Time without packets after which this leg generates silence.
constexpr Nanos kPatience = 200 * kMillisecond;
/// Limit during DTX: an Opus sender with DTX sends every 400 ms (RFC 7587 §3.1.3).
constexpr Nanos kPatienceInDtx = 600 * kMillisecond;
constexpr size_t kDtxPayload = 2;
/// Time for which audio is decoded after a sender changes its coding or packet length.
constexpr Nanos kUntilSettled = 2 * kSecond;
/// Maximum age of relayed audio that is crossfaded with the next audio.
constexpr Nanos kStillHeard = 60 * kMillisecond;

/// Maximum step at the beginning of a packet that causes no audible click.
constexpr Sample kNearlySilent = 200;
}  // namespace

/// Returns true if the far end is the only audio source.
bool Leg::silent_itself() const {
  return !digits_.busy() && limiter_.rests() &&
         std::ranges::all_of(players_.all(), [](const auto& player) { return player->finished(); }) &&
         std::ranges::none_of(streams_.all(), [](const auto& stream) { return stream->plays(); });
}

/// Returns true if the far end's packet can be relayed. Once relaying has started, packets of other lengths,
/// such as the last of a talkspurt, are relayed too.
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
  if (rate != this->rate()) return false;
  Frame newest(rate);
  receive_.audio().hear_newest(newest.samples(), out);
  return true;
}

/// Crossfades from relayed to composed audio. Extrapolated audio fills the frame, at most one, until the far
/// end is decoded from its next visit.
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
