// One caller: sends PCMU every 20 ms, and remembers what came back and when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "socket.hpp"

namespace phones {

constexpr Nanos kFrame = 20 * kMillisecond;
constexpr uint32_t kFrameSamples = 160;
/// Frames carry their number as one of these levels (1 …), far enough apart to survive any rounding.
constexpr uint32_t kCodes = 63;

struct Arrival {
  Nanos at;
  uint32_t timestamp;
  uint16_t sequence;
  /// Any sample above about 2,000: audio of the bot.
  bool loud;
};

class Phone {
 public:
  /// A watched phone numbers its frames and notes when each was sent; the others send silence.
  Phone(uint32_t ssrc, bool watched);

  [[nodiscard]] uint16_t port() const { return socket_.port(); }
  void talk_to(uint16_t port) { peer_port_ = port; }
  void send_frame();
  void listen();
  /// Forgets what came and went; from now on everything is noted.
  void begin_window();

  [[nodiscard]] const std::vector<Arrival>& arrivals() const { return arrivals_; }
  /// When the frames since `first_sent()` were sent.
  [[nodiscard]] const std::vector<Nanos>& sent() const { return sent_; }
  [[nodiscard]] uint32_t first_sent() const { return first_sent_; }
  /// Delay of the packets of the window relative to the earliest packet, by their timestamps.
  /// Nanoseconds.
  void add_lateness(std::vector<Nanos>& out) const;
  /// Numbers missing among the packets of the window.
  [[nodiscard]] size_t lost() const;

 private:
  void note(std::span<const uint8_t> packet, Nanos arrived);

  Socket socket_;
  bool watched_;
  bool noting_ = false;
  uint16_t peer_port_ = 0;
  uint32_t frame_ = 0;
  uint32_t first_sent_ = 0;
  std::array<uint8_t, 12 + kFrameSamples> packet_{};
  std::vector<Nanos> sent_;
  std::vector<Arrival> arrivals_;
};

}  // namespace phones
