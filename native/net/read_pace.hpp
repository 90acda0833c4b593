// How far a bot has read what was sent to it. The kernels on the way hold seconds of audio for a bot that
// does not read, so pings go out between the media messages, and each pong shows what the bot has read before
// it (RFC 6455 §5.5.3). For a bot that has never answered a ping the receive window of its TCP tells.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"

namespace carillon {

class ReadPace {
 public:
  /// 0: no limit.
  explicit ReadPace(size_t media_per_second)
      : window_(static_cast<uint32_t>(media_per_second / 2)),
        step_(std::max<uint32_t>(1, static_cast<uint32_t>(media_per_second / 5))) {}

  /// Payload of a ping.
  using Mark = std::array<uint8_t, 5>;

  /// Media messages that may be on their way, or in kernels, unread: half a second.
  [[nodiscard]] uint32_t window() const { return window_; }
  [[nodiscard]] bool answers() const { return answers_; }
  [[nodiscard]] bool may_send() const {
    // Before the first pong can be there, what is unacknowledged says nothing yet.
    if (window_ == 0 || sent_ < window_ / 2) return true;
    return answers_ ? sent_ - confirmed_ < window_ : unread_bytes_ <= window_ / 2 * message_bytes_;
  }
  /// A media message of so many bytes went to the kernel.
  void sent(size_t bytes) {
    ++sent_;
    ++since_mark_;
    message_bytes_ = bytes;
  }
  /// A media message has to wait.
  void waits() { ++since_mark_; }
  /// A ping is due.
  [[nodiscard]] bool wants_mark() const { return window_ != 0 && since_mark_ >= step_; }
  /// Of a ping that is written now.
  Mark mark() {
    since_mark_ = 0;
    Mark mark{kTag};
    write_u32(std::span(mark), 1, sent_);
    return mark;
  }
  /// Payload of a pong; one that is none of ours says nothing.
  void answered(Bytes payload) {
    if (payload.size() != Mark().size() || payload[0] != kTag) return;
    const uint32_t mark = read_u32(payload, 1);
    if (mark - confirmed_ > sent_ - confirmed_) return;
    confirmed_ = mark;
    answers_ = true;
  }
  /// The peer's receive window now, and bytes that it has not acknowledged: what has narrowed the window is
  /// unread.
  void observe(uint32_t window, uint32_t unacknowledged) {
    widest_ = std::max(widest_, window);
    unread_bytes_ = size_t{widest_ - window} + unacknowledged;
  }

 private:
  static constexpr uint8_t kTag = 'm';

  uint32_t window_;
  uint32_t step_;
  uint32_t sent_ = 0;
  uint32_t confirmed_ = 0;
  uint32_t since_mark_ = 0;
  bool answers_ = false;
  size_t message_bytes_ = 0;
  uint32_t widest_ = 0;
  size_t unread_bytes_ = 0;
};

/// What the kernel knows of a connection's peer.
struct PeerWindow {
  uint32_t window = 0;
  uint32_t unacknowledged = 0;
};
/// Nothing: this kernel does not tell (Linux before 5.4).
std::optional<PeerWindow> peer_window_of(int fd);

}  // namespace carillon
