// What one media thread does in a millisecond: run commands, take in datagrams, tick the core. The thread
// that calls it, or a test that calls it instead, is elsewhere.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/media_core.hpp"
#include "engine/command_queue.hpp"
#include "engine/event_ring.hpp"
#include "engine/recording_tap.hpp"
#include "engine/socket_wheel.hpp"

namespace carillon {

/// A packet of the manual mode, as the peer would have received it.
struct SentPacket {
  uint16_t local_port = 0;
  Address to;
  Nanos at{};
  std::vector<uint8_t> bytes;
};

class MediaLoop : private PacketSink {
 public:
  /// Packets that a test has not fetched; older ones are lost, as on a wire.
  static constexpr size_t kMaxKeptPackets = 1 << 20;

  /// `events`: of all media threads. `keep_packets`: manual mode; packets are kept for take_sent() instead of
  /// being sent.
  MediaLoop(RecordRing& events, bool keep_packets);

  // --- control thread ---
  CommandQueue<MediaLoop>& commands() { return commands_; }
  // --- the thread that exchanges keys ---
  CommandQueue<MediaLoop>& key_commands() { return key_commands_; }

  // --- media thread ---
  EventRing& events() { return events_; }
  [[nodiscard]] bool commands_wait() const { return !commands_.empty() || !key_commands_.empty(); }
  /// Returns whether any has run.
  bool run_commands(Nanos now);
  /// One command at once, in manual mode.
  void run_command(CommandQueue<MediaLoop>::Command& command, Nanos now);
  /// `wall_offset`: CLOCK_REALTIME minus the monotonic clock.
  void drain_sockets(Nanos now, Nanos wall_offset);
  /// Between two ticks: takes in what is to go on at once.
  void drain_prompt(Nanos now, Nanos wall_offset);
  void tick(Nanos now);
  /// Ticks that would find nothing to do, from the next one on and at most `limit`.
  [[nodiscard]] int64_t idle_ticks(int64_t limit) const;
  /// Nothing is to be done until a command, or a datagram at a resting socket, comes.
  [[nodiscard]] bool at_rest() const;
  /// So many ticks were left out while at rest.
  void pass(int64_t ticks, Nanos now, Nanos wall_offset);
  MediaCore& core() { return core_; }
  [[nodiscard]] const MediaCore& core() const { return core_; }
  SocketWheel& sockets() { return sockets_; }
  [[nodiscard]] Nanos now() const { return now_; }
  ConcludingRecordings& concluding() { return concluding_; }

  /// A leg on its way to another media thread, with all that is its own: nothing that comes for it, or that
  /// it is to send, is lost meanwhile.
  struct Departed {
    MediaCore::Departed leg;
    SocketWheel::Departed sockets;
    /// Written last.
    std::atomic<bool> there{false};
  };
  void release_leg(LegHandle handle, Departed& out);
  /// It can be received here: it has left where it was, and this thread is not behind that one.
  [[nodiscard]] bool may_receive(const Departed& departed) const {
    return departed.there.load(std::memory_order_acquire) && departed.leg.next_tick <= core_.next_tick();
  }
  void receive_leg(LegHandle handle, Departed& departed);

  // --- manual mode ---
  std::vector<SentPacket> take_sent() { return std::exchange(sent_, {}); }

 private:
  void send(LegHandle leg, const Address& to, Bytes packet) override;
  void send_rtcp(LegHandle leg, const Address& to, Bytes packet) override;
  void keep(LegHandle leg, bool rtcp, const Address& to, Bytes packet);
  void latched(LegHandle leg, const std::optional<Address>& peer) override;
  void prompt(LegHandle leg, bool wanted) override;

  // Given.
  bool keep_packets_;
  // Owned.
  EventRing events_;
  ConcludingRecordings concluding_;
  MediaCore core_;
  CommandQueue<MediaLoop> commands_;
  CommandQueue<MediaLoop> key_commands_;
  SocketWheel sockets_;
  std::vector<SentPacket> sent_;
  // State.
  Nanos now_{};
  int until_report_ = 0;
};

}  // namespace carillon
