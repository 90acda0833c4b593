// Tracks how much of the sent media a bot has read. The kernels can buffer seconds of audio for a bot that
// does not read. Pings are therefore sent between media messages, and each pong shows what was read before it
// (RFC 6455 §5.5.3). For bots that never answer pings, the TCP receive window is used.
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
  /// `media_per_second`: media messages per second. 0: no limit.
  explicit ReadPace(size_t media_per_second)
      : window_(static_cast<uint32_t>(media_per_second / 2)),
        step_(std::max<uint32_t>(1, static_cast<uint32_t>(media_per_second / 5))) {}

  /// Payload of a ping.
  using Mark = std::array<uint8_t, 5>;

  /// Maximum number of unread media messages: half a second.
  [[nodiscard]] uint32_t window() const { return window_; }
  [[nodiscard]] bool answers() const { return answers_; }
  [[nodiscard]] bool may_send() const {
    // Before the first pong, the amount of unacknowledged data has no meaning.
    if (window_ == 0 || sent_ < window_ / 2) return true;
    return answers_ ? sent_ - confirmed_ < window_ : unread_bytes_ <= window_ / 2 * message_bytes_;
  }
  /// Counts a media message of `bytes` bytes passed to the kernel.
  void sent(size_t bytes) {
    ++sent_;
    ++since_mark_;
    message_bytes_ = bytes;
  }
  /// Counts a media message that must wait.
  void waits() { ++since_mark_; }
  /// Returns true if a ping is due.
  [[nodiscard]] bool wants_mark() const { return window_ != 0 && since_mark_ >= step_; }
  /// Returns the payload of the next ping.
  Mark mark() {
    since_mark_ = 0;
    Mark mark{kTag};
    write_u32(std::span(mark), 1, sent_);
    return mark;
  }
  /// Processes the payload of a pong. Ignores pongs without a ping of ours.
  void answered(Bytes payload) {
    if (payload.size() != Mark().size() || payload[0] != kTag) return;
    const uint32_t mark = read_u32(payload, 1);
    if (mark - confirmed_ > sent_ - confirmed_) return;
    confirmed_ = mark;
    answers_ = true;
  }
  /// Updates the estimate from the peer's receive window and unacknowledged bytes. Bytes by which the window
  /// has shrunk are unread.
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

/// TCP window information of a connection's peer.
struct PeerWindow {
  uint32_t window = 0;
  uint32_t unacknowledged = 0;
};
/// Returns nullopt if the kernel does not provide it (Linux before 5.4).
std::optional<PeerWindow> peer_window_of(int fd);

}  // namespace carillon
