// Bounded queue for messages to a slow bot, in order. When full, the oldest media messages are dropped; the
// bot detects the missing sequence numbers. Control messages are never dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/time.hpp"
#include "core/websocket/frame.hpp"

namespace carillon {

class SendQueue {
 public:
  struct Limits {
    /// Maximum number of media messages of 20 ms each. Beyond it, messages that have waited for the time of
    /// so many messages are dropped. A burst after a stall may hold kBurst times as many.
    size_t media_messages = 0;
    /// Maximum bytes of all other messages, including kItemBytes per item. put_control() fails beyond it.
    size_t control_bytes = 0;
  };
  struct Item {
    Opcode opcode = Opcode::text;
    bool is_media = false;
    Nanos at{};
    std::vector<uint8_t> payload;
  };

  /// Overhead per item in bytes, so that empty pings count.
  static constexpr size_t kItemBytes = 64;
  static constexpr size_t kBurst = 4;

  explicit SendQueue(const Limits& limits) : limits_(limits) {}

  void put_media(Bytes message, Nanos now);
  /// Adds a control message. Returns false if the limit is exceeded. A pong replaces a waiting pong (RFC 6455
  /// §5.5.3).
  bool put_control(Opcode opcode, Bytes payload);
  /// Returns the next message to write. Returns nullopt if it is media and `media_allowed` is false.
  std::optional<Item> take(bool media_allowed = true);
  /// Drops all waiting media.
  void drop_media();

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] uint64_t dropped() const { return dropped_; }
  /// Returns 30, 60 or 90 if waiting media has just exceeded that percentage of its limit, else 0. Each level
  /// is reported again only after the queue was empty.
  unsigned newly_degraded();

 private:
  [[nodiscard]] bool full(Nanos now) const;
  void drop_oldest_media();
  void drop_pong();
  [[nodiscard]] static size_t cost(Bytes payload) { return kItemBytes + payload.size(); }

  Limits limits_;
  std::deque<Item> items_;
  size_t media_ = 0;
  size_t control_bytes_ = 0;
  bool pong_waits_ = false;
  uint64_t dropped_ = 0;
  unsigned reported_percent_ = 0;
};

}  // namespace carillon
