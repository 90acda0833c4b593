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

/// Returns true if a packet whose timestamp is `since` later belongs to the current press.
bool TelephoneEventReceiver::continues(const RtpPacket& packet, RtpTicks since) const {
  if (packet.payload[0] != event_ || since <= RtpTicks()) return false;
  if (!ended_ && since == kMaxSegment) return true;
  if (packet.marker) return false;
  const bool is_full = duration_ + kSegmentSlack >= kMaxSegment;
  if (!ended_ && is_full && since > duration_ && since <= kMaxSegment + kSegmentSlack) return true;
  const bool repeats_end = (packet.payload[1] & kEndBit) != 0 && since < duration_;
  return ended_ ? repeats_end : since <= duration_;
}

std::optional<char> TelephoneEventReceiver::receive(const RtpPacket& packet, int64_t sequence) {
  if (packet.payload.size() < kTelephoneEventBytes) return std::nullopt;
  const uint8_t event = packet.payload[0];
  const std::optional<char> digit = digit_of_event(event);
  if (!digit) return std::nullopt;

  const bool end = (packet.payload[1] & kEndBit) != 0;
  const RtpTicks duration = event_duration(packet.payload);
  if (current_) {
    const RtpTicks since(static_cast<int32_t>(packet.timestamp.value() - current_->value()));
    const bool same = since == RtpTicks();
    if (same || continues(packet, since)) {
      duration_ = same ? std::max(duration_, duration) : duration;
      current_ = packet.timestamp;
      ended_ = ended_ || end;
      newest_sequence_ = std::max(newest_sequence_, sequence);
      return std::nullopt;
    }
    // Late packets of an earlier press, and its repeated end. The timestamps alone do not show that: a sender
    // can set them back, and they wrap.
    if (sequence < newest_sequence_ || (end && since < RtpTicks())) return std::nullopt;
  }
  current_ = packet.timestamp;
  newest_sequence_ = sequence;
  duration_ = duration;
  event_ = event;
  ended_ = end;
  return digit;
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
