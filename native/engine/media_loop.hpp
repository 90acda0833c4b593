// Work of one media thread per millisecond: runs commands, receives datagrams and ticks the core.
// MediaThread, or a test, calls it.
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

/// Packet sent in manual mode, as the peer would receive it.
struct SentPacket {
  uint16_t local_port = 0;
  Address to;
  Nanos at{};
  std::vector<uint8_t> bytes;
};

class MediaLoop : private PacketSink {
 public:
  /// Maximum number of sent packets kept for a test. Older ones are dropped.
  static constexpr size_t kMaxKeptPackets = 1 << 20;

  /// `events`: ring shared by all media threads. `keep_packets`: manual mode; packets are stored for
  /// take_sent() instead of being sent.
  MediaLoop(RecordRing& events, bool keep_packets);

  // --- control thread ---
  CommandQueue<MediaLoop>& commands() { return commands_; }
  /// Returns true if commands wait for space in the queue.
  [[nodiscard]] bool commands_behind() const { return commands_.some_wait(); }
  // --- key exchange thread ---
  CommandQueue<MediaLoop>& key_commands() { return key_commands_; }

  // --- media thread ---
  EventRing& events() { return events_; }
  [[nodiscard]] bool commands_wait() const { return !commands_.empty() || !key_commands_.empty(); }
  /// Runs the ready commands. Returns true if any was run.
  bool run_commands(Nanos now);
  /// Runs one command immediately (manual mode).
  void run_command(CommandQueue<MediaLoop>::Command& command, Nanos now);
  /// Receives waiting datagrams. `wall_offset`: CLOCK_REALTIME minus the monotonic clock.
  void drain_sockets(Nanos now, Nanos wall_offset);
  /// Receives datagrams that must be relayed immediately, between two ticks.
  void drain_prompt(Nanos now, Nanos wall_offset);
  /// Receives all waiting datagrams after `ticks` skipped ticks.
  void catch_up(int64_t ticks, Nanos now, Nanos wall_offset);
  void tick(Nanos now);
  /// Returns the number of next ticks without work, at most `limit`.
  [[nodiscard]] int64_t idle_ticks(int64_t limit) const;
  /// Returns true if only a command or a datagram on a resting socket can cause work.
  [[nodiscard]] bool at_rest() const;
  /// Accounts for `ticks` ticks that were skipped at rest.
  void pass(int64_t ticks, Nanos now, Nanos wall_offset);
  MediaCore& core() { return core_; }
  [[nodiscard]] const MediaCore& core() const { return core_; }
  SocketWheel& sockets() { return sockets_; }
  [[nodiscard]] Nanos now() const { return now_; }
  ConcludingRecordings& concluding() { return concluding_; }

  /// Leg in transit to another media thread with its sockets and objects. Its datagrams in both directions
  /// are kept.
  struct Departed {
    MediaCore::Departed leg;
    SocketWheel::Departed sockets;
    /// Set last, when the other members are complete.
    std::atomic<bool> there{false};
  };
  void release_leg(LegHandle handle, Departed& out);
  /// Returns true if the leg has left its thread and this thread has reached the leg's next tick.
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

  bool keep_packets_;
  EventRing events_;
  ConcludingRecordings concluding_;
  MediaCore core_;
  CommandQueue<MediaLoop> commands_;
  CommandQueue<MediaLoop> key_commands_;
  SocketWheel sockets_;
  std::vector<SentPacket> sent_;
  Nanos now_{};
  int until_report_ = 0;
};

}  // namespace carillon
