#include "core/leg/send_path.hpp"

#include <algorithm>

namespace carillon {

namespace {
constexpr int kStepMs = 10;
}

void SendPath::configure(const SendConfig& config) {
  if (config.coding != config_.coding || config.packet_ms != config_.packet_ms) pending_bytes_ = 0;
  if (config.sending && !config_.sending) talkspurt_begins_ = true;
  config_ = config;
  config_.packet_ms = std::clamp(config.packet_ms / kStepMs * kStepMs, kStepMs, kMaxPacketMs);
  steps_until_due_ = 0;
}

/// What take_packet gave out has left; what was encoded after it moves up.
void SendPath::drop_sent() {
  if (sent_bytes_ == 0) return;
  const auto pending = payload().subspan(sent_bytes_ + PacketProtection::kMaxTail, pending_bytes_);
  std::copy(pending.begin(), pending.end(), payload().begin());
  sent_bytes_ = 0;
}

/// What waits behind the packet that leaves now moves back.
void SendPath::make_room_for_tail() {
  if (pending_bytes_ == 0) return;
  const auto pending = payload().subspan(sent_bytes_, pending_bytes_);
  const auto room = payload().subspan(sent_bytes_ + PacketProtection::kMaxTail, pending_bytes_);
  std::copy_backward(pending.begin(), pending.end(), room.end());
}

void SendPath::put(const Frame& audio) {
  if (!config_.sending) {
    skip_frame();
    return;
  }
  drop_sent();
  if (pending_bytes_ + kFrameSamples > payload().size()) pending_bytes_ = 0;
  pending_bytes_ += codec_.encode(config_.coding, audio, payload().subspan(pending_bytes_));
  timestamp_ += kFrameSamples;
}

void SendPath::skip_frames(uint32_t count) {
  pending_bytes_ = 0;
  steps_until_due_ = 0;
  timestamp_ += count * static_cast<uint32_t>(kFrameSamples);
  talkspurt_begins_ = talkspurt_begins_ || !config_.sending;
}

Bytes SendPath::take_packet() {
  if (!config_.sending) return {};
  const int steps = config_.packet_ms / kStepMs;
  const int step_of_visit = needs_half_frames() ? 1 : kFrameMs / kStepMs;
  steps_until_due_ = std::max(0, steps_until_due_ - step_of_visit);
  const size_t bytes = static_cast<size_t>(config_.packet_ms) * kSamplesPerMs;
  if (steps_until_due_ > 0 || pending_bytes_ < bytes) return {};
  steps_until_due_ = steps;

  drop_sent();
  const auto timestamp = static_cast<uint32_t>(timestamp_ - pending_bytes_);
  sent_bytes_ = bytes;
  pending_bytes_ -= bytes;
  make_room_for_tail();
  const bool marker = talkspurt_begins_;
  talkspurt_begins_ = false;
  return finish(marker, config_.payload_type, timestamp, bytes);
}

Bytes SendPath::event_packet(const TelephoneEventSender::Packet& event) {
  // The audio that was pending is not sent any more: skip_frame follows.
  pending_bytes_ = sent_bytes_ = 0;
  std::copy(event.payload.begin(), event.payload.end(), payload().begin());
  return finish(event.marker, config_.telephone_event.value_or(0), event.timestamp, event.payload.size());
}

Bytes SendPath::finish(bool marker, uint8_t payload_type, uint32_t timestamp, size_t payload_bytes) {
  write_rtp_header({marker, payload_type, sequence_, timestamp, ssrc_}, packet_);
  ++sequence_;
  ++packets_;
  payload_bytes_ += payload_bytes;
  return Bytes(packet_).first(protection_->protect_rtp(packet_, kRtpHeaderBytes + payload_bytes));
}

}  // namespace carillon
