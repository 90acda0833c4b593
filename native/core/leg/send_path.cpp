#include "core/leg/send_path.hpp"

#include <algorithm>

namespace carillon {

namespace {
constexpr int kStepMs = 10;
/// Of G.711, the one codec whose frames are joined to packets: an octet a sample.
constexpr size_t kOctetsPerMs = 8;
constexpr size_t kMaxFrameBytes = kOctetsPerMs * kFrameMs;
}  // namespace

void SendPath::configure(const SendConfig& config) {
  if (config.coding != config_.coding || config.packet_ms != config_.packet_ms) pending_ = ByteCount();
  if (config.sending && !config_.sending) talkspurt_begins_ = true;
  config_ = config;
  config_.packet_ms = std::clamp(config.packet_ms / kStepMs * kStepMs, kStepMs, kMaxPacketMs);
  steps_until_due_ = 0;
}

/// What take_packet gave out has left; what was encoded after it moves up.
void SendPath::drop_sent() {
  if (sent_ == ByteCount()) return;
  const Bytes pending = pending_payload();
  std::copy(pending.begin(), pending.end(), payload().begin());
  sent_ = ByteCount();
}

/// What waits behind the packet that leaves now moves back.
void SendPath::make_room_for_tail() {
  if (pending_ == ByteCount()) return;
  const auto pending = payload().subspan(sent_.count(), pending_.count());
  const auto room = payload().subspan(sent_.count() + PacketProtection::kMaxTail, pending_.count());
  std::copy_backward(pending.begin(), pending.end(), room.end());
}

void SendPath::put(const Frame& audio) {
  if (!config_.sending) {
    skip_frame();
    return;
  }
  drop_sent();
  if (pending_.count() + kMaxFrameBytes > payload().size()) pending_ = ByteCount();
  pending_ += codec_.encode(config_.coding, audio, payload().subspan(pending_.count()));
  timestamp_ += frame_;
}

void SendPath::skip_frames(uint32_t count) {
  pending_ = ByteCount();
  steps_until_due_ = 0;
  timestamp_ += frame_ * count;
  talkspurt_begins_ = talkspurt_begins_ || !config_.sending;
}

Bytes SendPath::take_packet() {
  if (!config_.sending) return {};
  const int steps = config_.packet_ms / kStepMs;
  const int step_of_visit = needs_half_frames() ? 1 : kFrameMs / kStepMs;
  steps_until_due_ = std::max(0, steps_until_due_ - step_of_visit);
  const ByteCount bytes(static_cast<size_t>(config_.packet_ms) * kOctetsPerMs);
  if (steps_until_due_ > 0 || pending_ < bytes) return {};
  steps_until_due_ = steps;

  drop_sent();
  const RtpTimestamp timestamp = timestamp_ - codec_.duration(config_.coding, pending_payload());
  sent_ = bytes;
  pending_ -= bytes;
  make_room_for_tail();
  const bool marker = talkspurt_begins_;
  talkspurt_begins_ = false;
  return finish(marker, config_.payload_type, timestamp, bytes);
}

Bytes SendPath::event_packet(const TelephoneEventSender::Packet& event) {
  // The audio that was pending is not sent any more: skip_frame follows.
  pending_ = sent_ = ByteCount();
  std::copy(event.payload.begin(), event.payload.end(), payload().begin());
  return finish(event.marker, config_.telephone_event.value_or(0), event.timestamp,
                ByteCount(event.payload.size()));
}

Bytes SendPath::finish(bool marker, uint8_t payload_type, RtpTimestamp timestamp, ByteCount payload) {
  write_rtp_header({marker, payload_type, sequence_, timestamp, ssrc_}, packet_);
  ++sequence_;
  ++packets_;
  payload_bytes_ += payload;
  return Bytes(packet_).first(protection_->protect_rtp(packet_, kRtpHeaderBytes + payload.count()));
}

}  // namespace carillon
