// What waits for a bot that reads too slowly, in order and bounded: the oldest `media` are dropped (their
// sequence numbers stay missing, so the bot can tell), never a control message.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/websocket/frame.hpp"

namespace carillon {

class SendQueue {
 public:
  struct Limits {
    /// Beyond it, the oldest are dropped.
    size_t media_messages = 0;
    /// Bytes of everything else, kItemBytes for each item included; beyond it, put_control refuses.
    size_t control_bytes = 0;
  };
  struct Item {
    Opcode opcode = Opcode::text;
    bool is_media = false;
    std::vector<uint8_t> payload;
  };

  /// What an item takes beside its payload: an empty ping is not free.
  static constexpr size_t kItemBytes = 64;

  explicit SendQueue(const Limits& limits) : limits_(limits) {}

  void put_media(Bytes message);
  /// False: more waits than the limit allows; the message is not taken. Of pongs only the last waits (RFC
  /// 6455 §5.5.3).
  bool put_control(Opcode opcode, Bytes payload);
  /// The next that may be written; nothing where that is media and `media_allowed` is false.
  std::optional<Item> take(bool media_allowed = true);
  /// Media that waits is given up.
  void drop_media();

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] uint64_t dropped() const { return dropped_; }
  /// 30, 60 or 90 when waiting media has just crossed that part of its limit upwards, else 0. A level is told
  /// again only after everything has left.
  unsigned newly_degraded();

 private:
  void drop_oldest_media();
  void drop_pong();
  [[nodiscard]] static size_t cost(Bytes payload) { return kItemBytes + payload.size(); }

  Limits limits_;
  std::deque<Item> items_;
  size_t media_ = 0;
  size_t control_bytes_ = 0;
  bool pong_waits_ = false;
  uint64_t dropped_ = 0;
  unsigned told_percent_ = 0;
};

}  // namespace carillon
