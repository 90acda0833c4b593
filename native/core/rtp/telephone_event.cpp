#include "core/rtp/telephone_event.hpp"

#include <algorithm>
#include <string_view>

#include "core/base/frame.hpp"

namespace carillon {

namespace {
constexpr std::string_view kDigits = "0123456789*#ABCD";
constexpr uint8_t kEndBit = 0x80;
/// Volume -10 dBm0, a common DTMF level. The field holds the negated level (RFC 4733 §2.3.3).
constexpr uint8_t kVolume = 10;
constexpr int kEndPackets = 3;
/// Limit of the duration field. A longer press continues in another segment (RFC 4733 §2.5.1.3).
constexpr RtpTicks kMaxSegment{0xffff};
/// 60 ms at 48 kHz. Browsers begin the next segment with the next packet, not at the end of the full one.
constexpr RtpTicks kSegmentSlack{2880};
}  // namespace

std::optional<uint8_t> event_of_digit(char digit) {
  const size_t at = kDigits.find(digit);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<uint8_t>(at);
}

std::optional<char> digit_of_event(uint8_t event) {
  if (event >= kDigits.size()) return std::nullopt;
  return kDigits[event];
}

RtpTicks event_duration(Bytes payload) {
  return RtpTicks(payload.size() < kTelephoneEventBytes ? 0 : read_u16(payload, 2));
}

/// Returns true if a packet with a later timestamp belongs to the current press.
bool TelephoneEventReceiver::continues(const RtpPacket& packet, RtpTime timestamp) const {
  if (packet.payload[0] != event_) return false;
  const RtpTime full = *current_ + kMaxSegment;
  if (!ended_ && timestamp == full) return true;
  if (packet.marker) return false;
  const RtpTime end = *current_ + duration_;
  if (!ended_ && end + kSegmentSlack >= full && timestamp > end && timestamp <= full + kSegmentSlack)
    return true;
  const bool repeats_end = (packet.payload[1] & kEndBit) != 0 && timestamp < end;
  return ended_ ? repeats_end : timestamp <= end;
}

std::optional<char> TelephoneEventReceiver::receive(const RtpPacket& packet) {
  if (packet.payload.size() < kTelephoneEventBytes) return std::nullopt;
  const uint8_t event = packet.payload[0];
  const std::optional<char> digit = digit_of_event(event);
  if (!digit) return std::nullopt;

  const RtpTime timestamp = timestamps_.extend(packet.timestamp);
  const bool end = (packet.payload[1] & kEndBit) != 0;
  const RtpTicks duration = event_duration(packet.payload);
  if (current_) {
    if (timestamp < *current_) return std::nullopt;  // late packet of an earlier press
    if (timestamp == *current_ || continues(packet, timestamp)) {
      duration_ = timestamp == *current_ ? std::max(duration_, duration) : duration;
      current_ = timestamp;
      ended_ = ended_ || end;
      return std::nullopt;
    }
  }
  current_ = timestamp;
  duration_ = duration;
  event_ = event;
  ended_ = end;
  return digit;
}

void TelephoneEventReceiver::restart() {
  timestamps_.reset();
  current_.reset();
}

void TelephoneEventSender::start(char digit, RtpTimestamp timestamp, RtpTicks frame, int64_t frames) {
  event_ = event_of_digit(digit).value_or(0);
  timestamp_ = timestamp;
  sent_ = RtpTicks();
  frame_ = frame;
  duration_ = std::clamp(frame * frames, frame, kMaxSegment);
  first_ = true;
  ends_left_ = kEndPackets;
}

TelephoneEventSender::Packet TelephoneEventSender::next() {
  sent_ = std::min(sent_ + frame_, duration_);
  const bool end = sent_ == duration_;
  Packet packet{first_, timestamp_, {}};
  packet.payload[0] = event_;
  packet.payload[1] = static_cast<uint8_t>((end ? kEndBit : 0) | kVolume);
  write_u16(packet.payload, 2, static_cast<uint16_t>(sent_.count()));
  first_ = false;
  if (end) --ends_left_;
  return packet;
}

}  // namespace carillon
