// The sockets of a media thread, and when each is looked at next.
//
// No readiness notification: RTP comes by the clock, so a socket is looked at just after its next packet is
// due, and more and more seldom while nothing comes. That costs little more than the receiving itself (epoll
// costs 15-20 % more).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/media_core.hpp"
#include "engine/udp_socket.hpp"

namespace carillon {

class SocketWheel {
 public:
  SocketWheel();

  /// Both sockets of a leg: RTP, and RTCP on the port above it.
  using Pair = std::array<std::unique_ptr<UdpSocket>, 2>;

  void add(uint32_t leg, Pair sockets);
  Pair remove(uint32_t leg);
  void send_rtcp(uint32_t leg, const Address& to, Bytes packet) const;
  void send(uint32_t leg, const Address& to, Bytes packet) const;
  void connect(uint32_t leg, const std::optional<Address>& peer);

  /// One tick: hands what has come to `core`. `wall_offset`: CLOCK_REALTIME minus the monotonic clock.
  void drain(MediaCore& core, Nanos now, Nanos wall_offset);

 private:
  /// Ticks of one turn; longer than the longest interval between looks.
  static constexpr size_t kSlots = 32;
  /// RTCP comes every few seconds: each socket is looked at once in so many ticks.
  static constexpr size_t kRtcpTicks = 256;

  struct Place {
    uint32_t leg = 0;
    std::unique_ptr<UdpSocket> socket;
    std::unique_ptr<UdpSocket> rtcp;
    bool connected = false;
    uint32_t wait = 1;  // ticks until the next look, while nothing comes
  };

  /// Arrival of the newest datagram; nothing when none was there.
  std::optional<Nanos> receive(Place& place, MediaCore& core, Nanos now, Nanos wall_offset);
  void drain_rtcp(MediaCore& core, Nanos now, Nanos wall_offset);
  void schedule(uint32_t leg, size_t ticks) { slots_[(slot_ + ticks) % kSlots].push_back(leg); }

  std::vector<Place> places_;  // by the leg's index
  std::array<std::vector<uint32_t>, kSlots> slots_;
  std::vector<uint32_t> due_;
  UdpSocket::Batch batch_;
  size_t slot_ = 0;
  size_t rtcp_tick_ = 0;
};

}  // namespace carillon
