// Key presses as RTP events (RFC 4733): receives one press from many packets, and sends one press as many
// packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/rtp/packet.hpp"

namespace carillon {

inline constexpr size_t kTelephoneEventBytes = 4;

/// Convert between digits `0-9*#A-D` and event codes 0-15 (RFC 4733 §3.2).
std::optional<uint8_t> event_of_digit(char digit);
std::optional<char> digit_of_event(uint8_t event);

/// Returns the duration since the event's timestamp, or 0 if the payload is too short.
RtpTicks event_duration(Bytes payload);

/// Reports each press once, on its first packet to arrive. The timestamp identifies the event (RFC 4733
/// §2.5.2.2), so lost, duplicate or reordered packets do not matter. Some gateways advance the timestamp with
/// each packet of a press. Such packets begin before the end of the press that they belong to.
class TelephoneEventReceiver {
 public:
  /// `sequence`: extended sequence number of the packet.
  std::optional<char> receive(const RtpPacket& packet, int64_t sequence);
  void restart() { current_.reset(); }

 private:
  [[nodiscard]] bool continues(const RtpPacket& packet, RtpTicks since) const;

  /// Timestamp of the latest press.
  std::optional<RtpTimestamp> current_;
  int64_t newest_sequence_ = 0;
  /// Duration since `current_`, as reported by the sender.
  RtpTicks duration_;
  uint8_t event_ = 0;
  bool ended_ = false;
};

/// Generates the packets of one press, one every 20 ms: updates with growing duration, then the end three
/// times.
class TelephoneEventSender {
 public:
  /// `digit` must be supported by event_of_digit(). `frame`: 20 ms on the event clock.
  void start(char digit, RtpTimestamp timestamp, RtpTicks frame, int64_t frames);
  [[nodiscard]] bool active() const { return ends_left_ > 0; }
  void stop() { ends_left_ = 0; }

  struct Packet {
    bool marker;
    RtpTimestamp timestamp;
    std::array<uint8_t, kTelephoneEventBytes> payload;
  };
  /// Returns the next packet. Call once per frame while active() is true.
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
