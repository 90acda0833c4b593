#include "core/leg/send_path.hpp"

#include <algorithm>
#include <utility>

namespace carillon {

namespace {
constexpr int kStepMs = 10;
}  // namespace

void SendPath::use(std::unique_ptr<Packetizer>& audio) {
  std::swap(audio_, audio);
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

void SendPath::put(AudioView audio) {
  if (!config_.sending) {
    skip_frame();
    return;
  }
  audio_->put(audio.samples);
  timestamp_ += frame_;
}

void SendPath::skip_frames(uint32_t count) {
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
  const SampleCount samples(static_cast<size_t>(config_.packet_ms) *
                            static_cast<size_t>(rates_.sample.per_ms()));
  const SampleCount waiting = audio_->waiting();
  if (steps_until_due_ > 0 || waiting < samples) {
    audio_->keep();
    return {};
  }
  steps_until_due_ = steps;

  const RtpTimestamp timestamp = timestamp_ - rates_.ticks(waiting);
  const ByteCount bytes = audio_->take(config_.coding, samples);
  const bool marker = talkspurt_begins_;
  // What the codec leaves out is a pause of its own choice (RFC 7587 §4.2).
  talkspurt_begins_ = bytes == ByteCount();
  if (bytes == ByteCount()) return {};
  return finish(marker, config_.payload_type, timestamp, bytes);
}

Bytes SendPath::event_packet(const TelephoneEventSender::Packet& event) {
  // The audio that was pending is not sent any more: skip_frame follows.
  audio_->drop();
  std::ranges::copy(event.payload, audio_->packet().subspan(kRtpHeaderBytes).begin());
  return finish(event.marker, config_.telephone_event.value_or(0), event.timestamp,
                ByteCount(event.payload.size()));
}

Bytes SendPath::finish(bool marker, uint8_t payload_type, RtpTimestamp timestamp, ByteCount payload) {
  const std::span<uint8_t> packet = audio_->packet();
  write_rtp_header({marker, payload_type, sequence_, timestamp, ssrc_}, packet);
  ++sequence_;
  ++packets_;
  payload_bytes_ += payload;
  return Bytes(packet).first(protection_->protect_rtp(packet, kRtpHeaderBytes + payload.count()));
}

}  // namespace carillon
