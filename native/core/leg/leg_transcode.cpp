// Transcodes packets from the far end on arrival, for codings, sample rates or packet times that differ.
#include <algorithm>

#include "core/dsp/fade.hpp"
#include "core/leg/leg.hpp"

namespace carillon {

namespace {
/// Opus payloads up to this length hold no speech.
constexpr size_t kSpeechless = 2;
/// Delay beyond the fastest recent packet with which transcoding does not start: the packet is from a burst
/// after a stall, and all later packets would be early.
constexpr Nanos kFromStall = 100 * kMillisecond;
}  // namespace

void Leg::transcode(Leg& from, const ReceivePath::Outcome& received, Nanos arrival, PacketSink& sink) {
  // A codec change may have replaced the objects of one leg.
  if (!from.arrivals_ || !send_.can_wait()) {
    relay_.stop();
    return;
  }
  const ReceiveConfig& theirs = from.receive_.config();
  ArrivalReader& reader = *from.arrivals_;
  if (received.packet.payload_type != theirs.payload_type || !reader.decodes(theirs.coding)) {
    relay_.refused(arrival);
    return;
  }
  JitterBuffer& audio = from.receive_.audio();
  const Bytes payload = received.packet.payload;
  // Composed audio has comfort noise while the sender pauses.
  if (theirs.coding == Coding::opus && payload.size() <= kSpeechless) {
    relay_.stop();
    return;
  }
  const AudioDecoder& decoder = audio.decoder();
  const ArrivalReader::Packet packet{
      received.sequence, audio.time_of(received.packet.timestamp),
      decoder.duration(theirs.coding, payload.first(std::min(payload.size(), decoder.longest_payload()))),
      arrival, received.packet.marker};
  if (packet.duration == RtpTicks()) return;

  std::array<Sample, fade_samples(kHighestRate)> silence{};
  std::span<const Sample> before;
  Frame heard(from.rate());
  Frame converted(send_.rate());
  if (!relays() || !transcodes_ || !reader.running(audio.packets(), from.receive_.sequence_era())) {
    if (arrival - audio.delays().earliest(packet.time) > kFromStall) return;
    before = std::span(silence).first(fade_samples(send_.rate()));
    if (!relays() && relay_.far_heard() && !steps_) {
      audio.hear_on(heard.samples());
      before = to_line_.convert(heard, send_.rate(), converted).samples;
    }
    if (relays()) send_.end_relay(arrival);
    reader.begin(packet, audio.packets(), from.receive_.sequence_era(), full_rate_, send_.rate());
    transcodes_ = true;
  }
  const uint64_t late = reader.late();
  if (!reader.arrived(packet)) {
    relay_.refused(arrival);
    return;
  }
  // If the audio is also decoded, the jitter buffer counts late packets.
  if (reader.late() != late && !from.decodes_) from.receive_.discarded(received.sequence);
  relay_.relayed(arrival, false);
  send_.transcode(arrival, reader.clock().time_of(packet.duration));
  pass_on(from, arrival, sink, before);
}

void Leg::pass_on(Leg& from, Nanos now, PacketSink& sink, std::span<const Sample> before) {
  if (!from.arrivals_) return;
  ArrivalReader& reader = *from.arrivals_;
  content_ = std::min(reader.rate(), full_rate_);
  while (true) {
    if (const SampleRate needed = needed_line_rate(); needed != send_.rate()) send_.put_at(needed);
    Frame frame(send_.rate());
    const auto piece = reader.next(now, from.receive_.store(), send_.rate(), frame);
    if (!piece) return;
    if (piece->kind == ArrivalReader::Kind::pause) {
      send_pause(piece->pause, sink);
      continue;
    }
    const size_t over = std::min(before.size(), piece->audio.size());
    crossfade(before.first(over), piece->audio.first(over));
    before = {};
    if (steps_) smooth_step(last_sent_, piece->audio, fade_samples(send_.rate()));
    steps_ = false;
    send_arrived({send_.rate(), piece->audio}, content_, piece->kind == ArrivalReader::Kind::lost, sink);
  }
}

void Leg::send_arrived(AudioView audio, SampleRate content, bool lost, PacketSink& sink) {
  send_.put_arrived(audio, content, lost);
  while (send_.complete()) {
    const Bytes packet = send_.take_complete();
    if (!packet.empty()) sink.send(config_.handle, receive_.source().target(), packet);
  }
}

/// Completes the waiting packet with silence. The rest of the pause is not sent.
void Leg::send_pause(Nanos length, PacketSink& sink) {
  Frame silence(send_.rate());
  silence.fill(0);
  while (length > Nanos{} && send_.pending()) {
    const size_t in_pause = std::max<size_t>(1, send_.rate().in(length).count());
    const size_t count = std::min({in_pause, send_.needed().count(), silence.size()});
    send_arrived({send_.rate(), silence.samples().first(count)}, content_, false, sink);
    length -= std::min(length, send_.rate().time_of(SampleCount(count)));
  }
  if (length > Nanos{}) send_.pause_arrived(length);
}

}  // namespace carillon
