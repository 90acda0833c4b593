// Keypad presses as RTP events, RFC 4733: one press out of many packets, and many packets out of one press.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/rtp/packet.hpp"
#include "core/rtp/unwrap.hpp"

namespace carillon {

inline constexpr size_t kTelephoneEventBytes = 4;

/// `0-9*#A-D` to event code 0-15 (RFC 4733 §3.2).
std::optional<uint8_t> event_of_digit(char digit);
std::optional<char> digit_of_event(uint8_t event);

/// Time since the event's timestamp that a packet stands for; 0 for what is too short.
RtpTicks event_duration(Bytes payload);

/// Reports every press once, on the first of its packets to arrive: lost starts, lost ends, repeats and
/// reordering change nothing, because the event's timestamp names it (RFC 4733 §2.5.2.2).
class TelephoneEventReceiver {
 public:
  std::optional<char> receive(const RtpPacket& packet);
  void restart();

 private:
  TimestampUnwrapper timestamps_;
  std::optional<RtpTime> current_;
  uint8_t event_ = 0;
  bool ended_ = false;
};

/// The packets of one press, one each 20 ms: updates with growing duration, then the end three times.
class TelephoneEventSender {
 public:
  /// `digit` must be one that event_of_digit knows. `frame`: 20 ms on the clock of the events.
  void start(char digit, RtpTimestamp timestamp, RtpTicks frame, int64_t frames);
  [[nodiscard]] bool active() const { return ends_left_ > 0; }

  struct Packet {
    bool marker;
    RtpTimestamp timestamp;
    std::array<uint8_t, kTelephoneEventBytes> payload;
  };
  /// Call once a frame while active().
  Packet next();

 private:
  uint8_t event_ = 0;
  RtpTimestamp timestamp_;
  RtpTicks sent_;
  RtpTicks duration_;
  RtpTicks frame_;
  bool first_ = false;
  int ends_left_ = 0;
};

}  // namespace carillon
