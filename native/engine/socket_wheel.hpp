// Sockets of a media thread and the schedule for polling them.
//
// RTP packets arrive at regular intervals, so a socket is polled just after its next packet is due, and less
// often while nothing arrives. This costs little more than receiving itself; readiness notification costs
// 15-20 % more. A socket without traffic for long rests: the kernel reports its next datagram. The kernel
// also reports each datagram that must be relayed immediately. If there are many of these, sockets of regular
// peers are polled every millisecond from the expected arrival time.
#pragma once

#include <array>
#include <cstdint>
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

  /// Enables one system call for many sockets on the calling thread, which must poll and send from now on.
  /// Returns false if the kernel does not support it.
  bool begin_ring();
  /// Call before that thread ends.
  void end_ring();

  /// RTP and RTCP sockets of a leg. RTCP uses the next higher port.
  using Pair = std::array<std::unique_ptr<UdpSocket>, 2>;

  /// Sockets and connections of a removed leg, which the control thread closes.
  struct Removed {
    Pair pair;
    std::shared_ptr<StreamPath> streams;
  };

  void add(LegHandle leg, Pair sockets);
  /// Also ends the connections, because the control thread may close them much later.
  Removed remove(LegHandle leg);

  /// Sockets of a leg in transit to another wheel, including waiting datagrams.
  struct Departed {
    Pair pair;
    bool connected = false;
    bool by_ice = false;
    Address peer;
    Address destination;
    std::shared_ptr<StreamPath> streams;
  };
  Departed release(LegHandle leg);
  void receive(LegHandle leg, Departed& departed);

  /// Sets the own addresses in SDP, one per family. Packets are sent from them until the peer's first packet
  /// shows to which own address it sends.
  void announce(std::span<const Address> own) {
    for (const Address& one : own) announced_[one.family == Address::Family::ipv6 ? 1 : 0] = one;
  }
  /// Sets the port shared by legs with ICE. It must outlive this object.
  void share(const UdpSocket& port) { shared_ = &port; }
  /// Passes a datagram from the shared port to `core`, and sends the leg's packets from that port from now
  /// on. `path`: the datagram's TCP connection, over which packets to its source are sent. Returns in it a
  /// connection that the leg no longer uses, for release by the caller's thread.
  void receive_shared(LegHandle leg, std::shared_ptr<StreamPath>& path, const Datagram& datagram,
                      MediaCore& core, Nanos now);
  /// Sets the leg's socket on the shared port, connected to `peer`. Returns the previous one in `socket`.
  void attach(LegHandle leg, UdpSocket& socket, const Address& peer);
  void send_rtcp(LegHandle leg, const Address& to, Bytes packet) const;
  /// Sends a packet. Packets to the leg's peer may be delayed until flush().
  void send(LegHandle leg, const Address& to, Bytes packet) const;
  /// Sends all delayed packets.
  void flush();
  void connect(LegHandle leg, const std::optional<Address>& peer);
  /// Enables or disables (`wanted`) kernel notification for this leg, starting with the next datagram.
  void prompt(LegHandle leg, bool wanted);

  /// Performs one tick: passes received datagrams to `core`. `wall_offset`: CLOCK_REALTIME minus the
  /// monotonic clock.
  void drain(MediaCore& core, Nanos now, Nanos wall_offset);
  /// Passes the datagrams that the kernel reported between two ticks.
  void drain_prompt(MediaCore& core, Nanos now, Nanos wall_offset);
  /// Passes all waiting datagrams to `core` after a stall of this thread, which lasted for `stalled`. The
  /// next frames would otherwise replace audio that has arrived.
  void catch_up(MediaCore& core, Nanos now, Nanos wall_offset, Nanos stalled);
  /// Returns true if notification is enabled for some legs, and packets to relay have arrived recently.
  [[nodiscard]] bool any_prompt(Nanos now) const {
    return prompt_count_ > 0 && now - prompt_at_ < kPromptFor;
  }
  /// Returns true if recently nearly every tick had packets to relay.
  [[nodiscard]] bool many_prompt() const { return many_prompt_; }
  /// Returns the number of next ticks in which drain() polls no socket, at most `limit`.
  [[nodiscard]] int64_t idle_ticks(int64_t limit) const;
  /// Returns true if no socket is being polled.
  [[nodiscard]] bool at_rest() const { return scheduled_ == 0; }
  /// Accounts for `ticks` ticks that were skipped at rest.
  void pass(int64_t ticks, MediaCore& core, Nanos now, Nanos wall_offset);
  RestingSockets& resting() { return resting_; }

 private:
  /// Ticks per revolution; longer than the longest polling interval.
  static constexpr size_t kSlots = 32;
  /// Polling interval of RTCP sockets. RTCP arrives every few seconds and carries the kernel's arrival time.
  static constexpr size_t kRtcpTicks = 1024;
  /// Number of sockets read before the core processes the datagrams. Alternating system calls and processing
  /// would evict each other from the processor caches.
  static constexpr size_t kLooksAtOnce = 16;
  /// Time after the last relayed packet in which polling between ticks continues.
  static constexpr Nanos kPromptFor = 250 * kMillisecond;
  /// Prompt datagrams are counted over this period. They are many from two per tick.
  static constexpr Nanos kCounting = 20 * kTick;
  static constexpr size_t kMany = 40;

  /// Data for a poll or a packet, without indirection.
  struct Place {
    LegHandle leg;
    uint32_t wait = 1;  // ticks until the next poll while nothing arrives
    UdpSocket rtp;
    UdpSocket rtcp;
    bool connected = false;
    bool resting = false;
    bool prompt = false;
    /// True if the kernel reports each datagram; the socket is then not in the wheel.
    bool watched = false;
    /// True if the leg sends from the shared port, also to addresses other than its peer.
    bool by_ice = false;
    Address peer{};
    /// Own address to which the leg's peer sends. No family: unknown.
    Address destination{};
    /// Arrival prediction, for sockets with prompt datagrams.
    ArrivalClock clock{};
    /// TCP connections of a peer that is not reachable by UDP, newest first. Few legs have any.
    std::shared_ptr<StreamPath> streams{};
  };

  [[nodiscard]] Place& place(LegHandle leg) { return places_[MediaCore::index_of(leg)]; }
  [[nodiscard]] const Place& place(LegHandle leg) const { return places_[MediaCore::index_of(leg)]; }
  Removed take_out(LegHandle leg);
  void use_shared(Place& changed, std::shared_ptr<StreamPath>& path);
  void receive(LegHandle leg, const Datagram& datagram, MediaCore& core, Nanos arrival);
  [[nodiscard]] const Address& own_address(const Place& from, const Address& to) const;
  void send_connected(const Place& from, Bytes packet) const;
  /// Reads one datagram per socket into its buffer. `found_` records which sockets had one.
  void read(std::span<const LegHandle> legs, MediaCore& core);
  void found(Place& due, UdpSocket::Buffer& buffer, MediaCore& core, Nanos now, Nanos wall_offset);
  void found_none(Place& due);
  void look(std::span<const LegHandle> legs, MediaCore& core, Nanos now, Nanos wall_offset);
  /// Passes on the datagram in `buffer` and any that follow. Returns the arrival time of the newest.
  Nanos take(UdpSocket::Buffer& buffer, Place& place, MediaCore& core, Nanos now, Nanos wall_offset);
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
  /// Adds sockets that became active to `due_`.
  void wake_resting(Nanos now);
  void count_prompt(Nanos now);

  std::vector<Place> places_;  // by the leg's index
  std::vector<Pair> owners_;   // emptied when they carry the sockets back to the control thread
  std::array<std::vector<LegHandle>, kSlots> slots_;
  std::vector<LegHandle> due_;
  std::array<UdpSocket::Buffer, kLooksAtOnce> buffers_;
  std::array<bool, kLooksAtOnce> found_{};
  std::unique_ptr<DatagramRing> ring_;
  RestingSockets resting_;
  const UdpSocket* shared_ = nullptr;
  /// Own addresses in SDP for IPv4 and IPv6. No family: unknown.
  std::array<Address, 2> announced_{};
  /// Source and own address of the datagram that the core processes. Responses to it use the same pair.
  Address source_{};
  Address destination_{};
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
