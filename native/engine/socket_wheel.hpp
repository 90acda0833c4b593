// The sockets of a media thread, and when each is looked at next.
//
// RTP comes by the clock, so a socket is looked at just after its next packet is due, and more and more
// seldom while nothing comes. That costs little more than the receiving itself (readiness notification costs
// 15-20 % more). A socket from which nothing has come for long rests: the kernel tells of its next datagram.
// Of sockets whose packets are to go on at once it tells each time; where there are many, those of steady
// peers are looked at by the clock too, each millisecond from when the next packet is expected.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/media_core.hpp"
#include "engine/arrival_clock.hpp"
#include "engine/datagram_ring.hpp"
#include "engine/resting_sockets.hpp"
#include "engine/stream_path.hpp"
#include "engine/udp_socket.hpp"

namespace carillon {

class SocketWheel {
 public:
  SocketWheel();

  /// The thread that looks and sends from now on: many sockets by one system call, where the kernel can.
  /// Returns whether it can.
  bool begin_ring();
  /// Before that thread ends.
  void end_ring();

  /// Both sockets of a leg: RTP, and RTCP on the port above it.
  using Pair = std::array<std::unique_ptr<UdpSocket>, 2>;

  void add(LegHandle leg, Pair sockets);
  Pair remove(LegHandle leg);

  /// The sockets of a leg that goes to another wheel, with what waits in them.
  struct Departed {
    Pair pair;
    bool connected = false;
    bool by_ice = false;
    Address peer;
    std::vector<std::shared_ptr<StreamPath>> streams;
  };
  Departed release(LegHandle leg);
  void receive(LegHandle leg, Departed& departed);

  /// The port that legs with ICE share; it outlives this.
  void share(const UdpSocket& port) { shared_ = &port; }
  /// What the leg sends goes from the shared port from now on; `path`: or over this connection of its peer.
  void use_shared(LegHandle leg, const std::shared_ptr<StreamPath>& path);
  /// The leg's own socket on the shared port, connected to `peer`; what it had before is given back in it.
  void attach(LegHandle leg, UdpSocket& socket, const Address& peer);
  void send_rtcp(LegHandle leg, const Address& to, Bytes packet) const;
  /// To the leg's peer it may wait for flush().
  void send(LegHandle leg, const Address& to, Bytes packet) const;
  /// What was sent is on its way.
  void flush();
  void connect(LegHandle leg, const std::optional<Address>& peer);
  /// From the next datagram on, the kernel tells of those of this leg (`wanted`), or no more.
  void prompt(LegHandle leg, bool wanted);

  /// One tick: hands what has come to `core`. `wall_offset`: CLOCK_REALTIME minus the monotonic clock.
  void drain(MediaCore& core, Nanos now, Nanos wall_offset);
  /// Between two ticks: hands over what the kernel has told of.
  void drain_prompt(MediaCore& core, Nanos now, Nanos wall_offset);
  /// The kernel tells of some legs' datagrams, and of late there were such as go on at once.
  [[nodiscard]] bool any_prompt(Nanos now) const {
    return prompt_count_ > 0 && now - prompt_at_ < kPromptFor;
  }
  /// Of late there were so many of those datagrams that nearly each tick finds some.
  [[nodiscard]] bool many_prompt() const { return many_prompt_; }
  /// Ticks in which drain() would look at no socket by the clock, from the next one on and at most `limit`.
  [[nodiscard]] int64_t idle_ticks(int64_t limit) const;
  /// No socket is looked at by the clock.
  [[nodiscard]] bool at_rest() const { return scheduled_ == 0; }
  /// So many ticks were left out while at rest.
  void pass(int64_t ticks, MediaCore& core, Nanos now, Nanos wall_offset);
  RestingSockets& resting() { return resting_; }

 private:
  /// Ticks of one turn; longer than the longest interval between looks.
  static constexpr size_t kSlots = 32;
  /// RTCP comes every few seconds and bears the kernel's arrival time: each socket is looked at once in so
  /// many ticks.
  static constexpr size_t kRtcpTicks = 1024;
  /// So many sockets are read before the core hears of it: with our code between two system calls, and the
  /// kernel's between two packets, neither would stay in the processor's caches.
  static constexpr size_t kLooksAtOnce = 16;
  /// So long nobody's packets went on: then there is no hurry until one does.
  static constexpr Nanos kPromptFor = 250 * kMillisecond;
  /// Prompt datagrams are counted for so long; from so many on they are many: two a tick.
  static constexpr Nanos kCounting = 20 * kTick;
  static constexpr size_t kMany = 40;

  /// What a look or a packet needs, without a pointer to follow.
  struct Place {
    LegHandle leg;
    uint32_t wait = 1;  // ticks until the next look, while nothing comes
    UdpSocket rtp;
    UdpSocket rtcp;
    bool connected = false;
    bool resting = false;
    bool prompt = false;
    /// Of each datagram the kernel tells: it does not stand in the wheel.
    bool watched = false;
    /// It sends from the shared port, to others than its peer too.
    bool by_ice = false;
    Address peer{};
    /// Of a prompt one.
    ArrivalClock clock{};
  };

  [[nodiscard]] Place& place(LegHandle leg) { return places_[MediaCore::index_of(leg)]; }
  [[nodiscard]] const Place& place(LegHandle leg) const { return places_[MediaCore::index_of(leg)]; }
  void send_connected(const Place& from, Bytes packet) const;
  /// Reads one datagram of each into its buffer; `found_` tells who got one.
  void read(std::span<const LegHandle> legs, MediaCore& core);
  void found(Place& due, UdpSocket::Buffer& buffer, MediaCore& core, Nanos now, Nanos wall_offset);
  void found_none(Place& due);
  void look(std::span<const LegHandle> legs, MediaCore& core, Nanos now, Nanos wall_offset);
  /// Hands over the datagram in `buffer`, and what may wait behind it. Returns the arrival of the newest.
  Nanos take(UdpSocket::Buffer& buffer, const Place& place, MediaCore& core, Nanos now, Nanos wall_offset);
  void drain_rtcp(MediaCore& core, Nanos now, Nanos wall_offset);
  void schedule(LegHandle leg, size_t ticks) {
    slots_[(slot_ + ticks) % kSlots].push_back(leg);
    ++scheduled_;
  }
  void send_by_ice(const Place& from, const Address& to, Bytes packet) const;
  void rest(Place& quiet);
  bool watch(Place& prompt);
  void unwatch(Place& watched);
  void look_at_due(MediaCore& core, Nanos now, Nanos wall_offset);
  /// Adds those that rest no longer to `due_`.
  void wake_resting(Nanos now);
  void count_prompt(Nanos now);

  std::vector<Place> places_;  // by the leg's index
  std::vector<Pair> owners_;   // emptied; they carry the sockets back to the control thread
  std::array<std::vector<LegHandle>, kSlots> slots_;
  std::vector<LegHandle> due_;
  std::array<UdpSocket::Buffer, kLooksAtOnce> buffers_;
  std::array<bool, kLooksAtOnce> found_{};
  std::unique_ptr<DatagramRing> ring_;
  RestingSockets resting_;
  const UdpSocket* shared_ = nullptr;
  /// Connections of peers that cannot be reached by UDP; few legs have any.
  std::map<LegHandle, std::vector<std::shared_ptr<StreamPath>>> streams_;
  Nanos resting_asked_at_{};
  size_t scheduled_ = 0;
  size_t prompt_count_ = 0;
  Nanos prompt_at_{};
  Nanos counting_since_{};
  size_t counted_ = 0;
  bool many_prompt_ = false;
  size_t slot_ = 0;
  size_t rtcp_tick_ = 0;
};

}  // namespace carillon
