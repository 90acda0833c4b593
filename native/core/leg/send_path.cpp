#include "core/leg/send_path.hpp"

#include <algorithm>
#include <utility>

namespace carillon {

namespace {
constexpr int kStepMs = 10;
/// Difference between timestamp and arrival time that indicates a new timeline.
constexpr Nanos kTimelineBroken = 2 * kSecond;
}  // namespace

void SendPath::use(std::unique_ptr<Packetizer>& audio) {
  std::swap(audio_, audio);
  audio_->expect_loss(loss_percent_);
  rates_ = audio_->encoder().rates();
  frame_ = rates_.clock.in(kFrameTime);
  steps_until_due_ = 0;
}

void SendPath::configure(const SendConfig& config) {
  if (config.coding != config_.coding || config.packet_ms != config_.packet_ms) audio_->drop();
  if (config.sending && !config_.sending) talkspurt_begins_ = true;
  config_ = config;
  const int wanted = std::clamp(config.packet_ms / kStepMs * kStepMs, kStepMs, Packetizer::kMaxPacketMs);
  config_.packet_ms = audio_->encoder().packet_ms(wanted);
  steps_until_due_ = 0;
}

void SendPath::put(AudioView audio, SampleRate content) {
  if (!config_.sending) {
    skip_frame();
    return;
  }
  audio_->put(audio.samples);
  audio_->carries(content);
  timestamp_ += frame_;
}

void SendPath::skip_frames(uint32_t count) {
  if (mode_ != Mode::own) return;
  audio_->drop();
  steps_until_due_ = 0;
  timestamp_ += frame_ * count;
  talkspurt_begins_ = talkspurt_begins_ || !config_.sending;
}

Bytes SendPath::take_packet() {
  if (!config_.sending) return {};
  const int steps = config_.packet_ms / kStepMs;
  const int step_of_visit = needs_half_frames() ? 1 : kFrameMs / kStepMs;
  steps_until_due_ = std::max(0, steps_until_due_ - step_of_visit);
  const SampleCount samples = packet_samples();
  const SampleCount waiting = audio_->waiting();
  if (steps_until_due_ > 0 || waiting < samples) {
    audio_->keep();
    return {};
  }
  steps_until_due_ = steps;
  return encode_waiting();
}

/// Encodes the oldest waiting audio, which must be complete.
Bytes SendPath::encode_waiting() {
  const RtpTimestamp timestamp = timestamp_ - rates_.ticks(audio_->waiting());
  const Room room = PacketRoom::next();
  const ByteCount bytes = audio_->take(config_.coding, packet_samples(), payload_in(room));
  const bool marker = talkspurt_begins_;
  // Frames that the codec does not send are its own pause (RFC 7587 §4.2).
  talkspurt_begins_ = bytes == ByteCount();
  if (bytes == ByteCount()) {
    PacketRoom::give_back();
    return {};
  }
  return finish(room, marker, config_.payload_type, timestamp, bytes);
}

Bytes SendPath::event_packet(const TelephoneEventSender::Packet& event) {
  // Discard the pending audio; skip_frame() follows.
  audio_->drop();
  const Room room = PacketRoom::next();
  std::ranges::copy(event.payload, payload_in(room).begin());
  return finish(room, event.marker, config_.telephone_event.value_or(0), event.timestamp,
                ByteCount(event.payload.size()));
}

Bytes SendPath::comfort_packet(uint8_t level) {
  audio_->drop();
  const Room room = PacketRoom::next();
  payload_in(room).front() = level;
  return finish(room, false, config_.comfort_noise.value_or(kComfortNoise), timestamp_,
                ByteCount(sizeof(level)));
}

RtpTimestamp SendPath::timestamp_at(Nanos now) const {
  if (mode_ == Mode::own) return timestamp_;
  return timestamp_ + (rates_.clock.in(now - newest_.arrival) - newest_.duration);
}

/// Returns true if the packet continues the relayed stream in sequence number and timestamp.
bool SendPath::goes_on(const Relayed& relayed) const {
  if (mode_ != Mode::relaying || relayed.era != newest_.era) return false;
  const RtpTicks since(
      static_cast<int32_t>(relayed.packet.timestamp.value() - newest_.packet.timestamp.value()));
  const Nanos off = rates_.clock.time_of(since) - (relayed.arrival - newest_.arrival);
  return abs(off) < kTimelineBroken;
}

void SendPath::begin_relay(const Relayed& first) {
  end_relay(first.arrival);
  audio_->drop();
  relay_.begin(first.sequence, first.packet.timestamp, {sequence_, timestamp_});
  newest_ = first;
  mode_ = Mode::relaying;
}

void SendPath::transcode(Nanos arrival, Nanos duration) {
  if (mode_ == Mode::relaying) end_relay(arrival);
  if (mode_ == Mode::own) {
    talkspurt_begins_ = true;
    lost_ = {};
  }
  mode_ = Mode::transcoding;
  newest_.arrival = arrival;
  newest_.duration = rates_.clock.in(duration);
}

void SendPath::put_arrived(AudioView audio, SampleRate content, bool lost) {
  audio_->put(audio.samples);
  audio_->carries(content);
  timestamp_ += rates_.ticks(SampleCount(audio.size()));
  lost_ = lost ? lost_ + SampleCount(audio.size()) : SampleCount();
  if (!complete()) audio_->keep();
}

Bytes SendPath::take_complete() {
  const SampleCount waiting = audio_->waiting();
  if (lost_ < waiting) return encode_waiting();
  // The receiver conceals this packet. The encoder continues from the concealed audio, as the decoder does.
  const Room room = PacketRoom::next();
  static_cast<void>(audio_->take(config_.coding, packet_samples(), payload_in(room)));
  PacketRoom::give_back();
  ++sequence_;
  return {};
}

void SendPath::pause_arrived(Nanos length) {
  audio_->drop();
  timestamp_ += rates_.clock.in(length);
  talkspurt_begins_ = true;
}

Bytes SendPath::relay(const Relayed& relayed, std::span<const Sample> instead) {
  if (relayed.packet.payload.size() > PacketRoom::kLongestPayload) return {};
  const bool begins = !goes_on(relayed);
  if (begins) begin_relay(relayed);
  const auto place = relay_.place_of(relayed.sequence, relayed.packet.timestamp);
  if (!place) return {};
  const Room room = PacketRoom::next();
  const std::span<uint8_t> payload = payload_in(room);
  ByteCount bytes(relayed.packet.payload.size());
  const bool is_comfort = relayed.coding == Coding::comfort;
  const uint8_t payload_type =
      is_comfort ? config_.comfort_noise.value_or(kComfortNoise) : config_.payload_type;
  if (is_comfort) {
    std::ranges::copy(relayed.packet.payload, payload.begin());
  } else if (instead.empty()) {
    carry_over(relayed.coding, config_.coding, relayed.packet.payload, payload);
  } else {
    bytes = audio_->encode(config_.coding, instead, payload);
  }
  if (begins || relayed.sequence > newest_.sequence) {
    newest_ = relayed;
    newest_.packet.payload = {};
    sequence_ = static_cast<uint16_t>(place->sequence + 1);
    timestamp_ = place->timestamp + relayed.duration;
  }
  return finish(room, {relayed.packet.marker || begins, payload_type, place->sequence, place->timestamp},
                bytes);
}

void SendPath::end_relay(Nanos now) {
  if (mode_ == Mode::own) return;
  mode_ = Mode::own;
  // Add the time since the last relayed packet. The next own packet then follows it without a gap.
  const Nanos since = now - newest_.arrival - rates_.clock.time_of(newest_.duration);
  if (since >= kFrameTime) {
    audio_->drop();
    timestamp_ += frame_ * (since / kFrameTime);
  }
  talkspurt_begins_ = true;
  steps_until_due_ = 0;
}

Bytes SendPath::finish(Room room, bool marker, uint8_t payload_type, RtpTimestamp timestamp,
                       ByteCount payload) {
  return finish(room, {marker, payload_type, sequence_++, timestamp}, payload);
}

Bytes SendPath::finish(Room packet, const Place& place, ByteCount payload) {
  write_rtp_header({place.marker, place.payload_type, place.sequence, place.timestamp, ssrc_}, packet);
  const size_t size = protection_->protect_rtp(packet, kRtpHeaderBytes + payload.count());
  if (size == 0) {
    PacketRoom::give_back();
    return {};
  }
  ++packets_;
  payload_bytes_ += payload;
  return Bytes(packet).first(size);
}

}  // namespace carillon
