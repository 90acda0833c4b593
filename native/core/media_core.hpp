// Owns all legs of one media thread and visits them in each tick. It uses no socket, clock or thread: callers
// pass in datagrams and the time, and receive packets and events through two sinks.
//
// An idle leg sleeps: it is not visited until a datagram, a command or its next alarm (keep-alive, report,
// media timeout) wakes it. Its timestamps are then advanced by the skipped time. A leg that only relays in
// both directions also sleeps; relayed datagrams do not wake it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/alarms.hpp"
#include "core/base/prefetch.hpp"
#include "core/ice/key_exchange.hpp"
#include "core/leg/leg.hpp"
#include "core/room/room.hpp"

namespace carillon {

struct CoreCounters {
  uint64_t packets_received = 0;
  uint64_t packets_sent = 0;
  uint64_t unknown_sources = 0;
  uint64_t malformed = 0;
  /// Number of times a peer's address changed.
  uint64_t source_changes = 0;
  uint64_t skipped_ticks = 0;
  /// Number of commands whose leg, room or object did not exist or was full.
  uint64_t unknown_handles = 0;
};

class MediaCore {
 public:
  /// Maximum number of legs per media thread. The control thread refuses more.
  static constexpr uint32_t kMaxLegs = 4096;
  static constexpr uint32_t kIndexMask = kMaxLegs - 1;
  static constexpr int kSlots = kFrameMs;
  static constexpr size_t kMaxRooms = 1024;

  /// Returns the index of a leg in the leg table.
  static constexpr uint32_t index_of(LegHandle leg) { return leg.value() & kIndexMask; }

  MediaCore(PacketSink& sink, Events& events);

  /// Sets the number of the next tick. Call before the first tick. Slots are bound to absolute time, so that
  /// a leg keeps its phase when it moves to another core.
  void begin_at(int64_t tick) { ticks_ = tick; }
  [[nodiscard]] int64_t next_tick() const { return ticks_; }

  /// Adds a leg. The low bits of its handle are its index, unique among live legs; the high bits are a
  /// generation counter.
  void add_leg(std::unique_ptr<Leg> leg);
  std::unique_ptr<Leg> remove_leg(LegHandle handle, Nanos now);

  /// Leg in transit to another core, removed from its bridge or room.
  struct Departed {
    std::unique_ptr<Leg> leg;
    /// Tick of its last visit.
    int64_t visited = 0;
    /// First tick in which it may be visited again.
    int64_t next_tick = 0;
  };
  /// Removes a leg for a move. The result has no leg if it does not exist.
  Departed release_leg(LegHandle handle);
  /// Adds a moved leg and accounts for missed visits. next_tick() must have reached the departed leg's
  /// next_tick.
  void receive_leg(Departed& departed, Nanos now);
  /// Returns a leg for modification and wakes it if it sleeps.
  [[nodiscard]] Leg* leg(LegHandle handle);
  [[nodiscard]] const Leg* peek(LegHandle handle) const;

  /// Connects two legs until one of them leaves or gets another source. Returns false if either does not
  /// exist.
  bool bridge(LegHandle a, LegHandle b);
  bool unbridge(LegHandle a, LegHandle b);

  /// Adds a room. Returns false, and leaves it with the caller, if kMaxRooms exist.
  bool add_room(std::unique_ptr<Room>& room);
  /// Removes a room and disconnects all members.
  std::unique_ptr<Room> remove_room(RoomHandle handle);
  [[nodiscard]] Room* room(RoomHandle handle);
  /// Adds a leg to a room and removes it from its bridge or other room. Returns false, and leaves `member`
  /// with the caller, if it cannot join.
  bool join(RoomHandle room, LegHandle leg, std::unique_ptr<RoomMember>& member);

  /// Hints. expect_soon(): prefetches the entry of a leg that will get a datagram. expect(): prefetches the
  /// leg; the datagram follows in `ahead` steps (Leg::expect_packet).
  void expect_soon(LegHandle leg) const { prefetch(&legs_[index_of(leg)], sizeof(Entry)); }
  void expect(LegHandle leg, size_t ahead) const {
    if (const Leg* const found = legs_[index_of(leg)].leg.get()) found->expect_packet(ahead);
  }
  void receive(LegHandle leg, std::span<uint8_t> datagram, const Address& source, Nanos arrival);
  void receive_rtcp(LegHandle leg, std::span<uint8_t> datagram, const Address& source, Nanos arrival);
  /// Sets the key exchange. Without it, datagrams for it are dropped.
  void exchange_keys_by(KeyExchange& exchange) { key_exchange_ = &exchange; }
  /// Sends a key exchange datagram to the leg's peer. Dropped while the peer's address is unknown.
  void send_to_peer(LegHandle leg, Bytes datagram);
  [[nodiscard]] bool can_reach(LegHandle leg) const;
  /// Returns true if the leg sends to this address.
  [[nodiscard]] bool is_peer(LegHandle leg, const Address& address) const;
  /// Notifies the key exchange that a peer is reachable. `name`: the leg's name.
  void report_reachable(LegHandle name, const Address& peer) {
    if (key_exchange_ != nullptr) key_exchange_->reachable(name, peer);
  }

  /// Notifies the key exchange that one of its messages did not find its leg.
  void report_keys_unmet() {
    if (key_exchange_ != nullptr) key_exchange_->unmet();
  }

  /// Processes one tick. Call once per millisecond.
  void tick(Nanos now);
  /// Skips `count` ticks (ms).
  void skip_ticks(int64_t count);
  /// Returns the number of next ticks in which tick() has no work, at most `limit`.
  [[nodiscard]] int64_t idle_ticks(int64_t limit) const;
  /// Returns true if no tick has anything to do.
  [[nodiscard]] bool at_rest() const { return leg_count_ == idle_count_ && rooms_.empty(); }
  /// Time of the next alarm. A core at rest has no work before it.
  [[nodiscard]] std::optional<Nanos> next_alarm() const { return alarms_.next(); }
  /// Advances the tick counter after `ticks` ticks were skipped at rest.
  void pass(int64_t ticks) { ticks_ += ticks; }

  /// Counts a command whose target did not exist.
  void missed() { ++counters_.unknown_handles; }
  [[nodiscard]] Events& events() { return events_; }
  [[nodiscard]] const CoreCounters& counters() const { return counters_; }
  [[nodiscard]] size_t leg_count() const { return leg_count_; }

 private:
  /// Capacity of a slot: twice its average share, so that another slot always has space.
  static constexpr size_t kLegsInSlot = 2 * (kMaxLegs / kSlots + 1);

  /// Far end of a bridged leg: the other leg.
  class BridgeEnd : public FarEnd {
   public:
    std::optional<AudioView> far_audio(Frame& /*out*/, Nanos now) override {
      other->hear_ahead(now);
      return other->decodes() ? std::optional(other->received()) : std::nullopt;
    }
    [[nodiscard]] bool may_speak(Nanos now) const override { return other->hears(now); }
    [[nodiscard]] bool listens() const override { return other->needs_far_audio(); }
    [[nodiscard]] bool passes_packets() const override { return true; }
    [[nodiscard]] SampleRate hears_at() const override { return other->full_rate(); }
    bool go_on_after_relay(SampleRate rate, std::span<Sample> out) override {
      return other->go_on_after_relay(rate, out);
    }
    void begin_to_listen() override { core->wake(core->legs_[index_of(other_handle)]); }
    [[nodiscard]] std::optional<Nanos> held_until() const override { return other->held_until(); }
    void pass_held(Leg& to, Nanos now, PacketSink& sink) override { to.pass_on(*other, now, sink); }
    MediaCore* core = nullptr;
    Leg* other = nullptr;
    LegHandle other_handle;
  };

  /// Collects packets of several legs and sends them together, at the latest at the end of the tick.
  /// Alternating legs and system calls would evict each other's data from the processor caches.
  class PacketBatch : public PacketSink {
   public:
    PacketBatch(PacketSink& inner, CoreCounters& counters) : inner_(inner), counters_(counters) {}
    /// `packet` must stay valid until flush(), as packets of PacketRoom do. A leg sends one per visit.
    void send(LegHandle leg, const Address& to, Bytes packet) override;
    void send_rtcp(LegHandle leg, const Address& to, Bytes packet) override {
      inner_.send_rtcp(leg, to, packet);
    }
    void latched(LegHandle leg, const std::optional<Address>& peer) override { inner_.latched(leg, peer); }
    void prompt(LegHandle leg, bool wanted) override { inner_.prompt(leg, wanted); }
    void flush();

   private:
    static constexpr size_t kPackets = 16;
    static_assert(kPackets < PacketRoom::kRooms);
    struct Packet {
      LegHandle leg;
      Address to;
      Bytes bytes;
    };
    PacketSink& inner_;
    CoreCounters& counters_;
    std::array<Packet, kPackets> packets_;
    size_t count_ = 0;
  };

  struct Entry {
    std::unique_ptr<Leg> leg;
    size_t slot = 0;
    BridgeEnd bridge;
    bool idle = false;
    /// True if its datagrams are read immediately on arrival.
    bool prompt = false;
    /// True if a command has changed the leg. Its next visit then checks whether it may sleep.
    bool changed = false;
    /// While asleep: tick of its last visit, or the tick before its first.
    int64_t visited = 0;
    /// Slot to which the leg moves after its next visit.
    size_t next_slot = 0;
  };

  void relay(Entry& from, const ReceivePath::Outcome& received, Nanos arrival);
  bool count_unwanted(Received kind);
  bool receive_muxed(Leg& leg, std::span<uint8_t> datagram, const Address& source, Nanos arrival);
  void receive_check(Leg& leg, Bytes datagram, const Address& source, Nanos arrival);
  [[nodiscard]] Entry* entry(LegHandle handle);
  void detach(Entry& side);
  Entry* take_out(LegHandle handle);
  void put_in(std::unique_ptr<Leg> leg, size_t slot);
  [[nodiscard]] int64_t visit_before(const Entry& found) const;
  void wake(Entry& entry);
  void change(Entry& found);
  void wake_due(Nanos now);
  bool sleep_on(const Entry& asleep, Nanos now);
  bool suspend(Entry& awake, Nanos now);
  void lay_down_idle(Nanos now);
  void place(Room& room, size_t slot);
  void follow_room(Entry& member, const Room& room);
  void move_to_next_slots(size_t visited);
  void expect_half(const Leg& leg, size_t slot);
  void send_halves(std::vector<LegHandle>& due);

  PacketSink& sink_;
  Events& events_;
  KeyExchange* key_exchange_ = nullptr;
  CoreCounters counters_;
  PacketBatch batch_;
  std::vector<Entry> legs_;
  std::array<std::vector<Leg*>, kSlots> slots_;  // legs that are awake
  std::array<size_t, kSlots> slot_sizes_{};      // legs per slot, including sleeping ones
  std::vector<LegHandle> changed_;
  std::array<std::vector<LegHandle>, kSlots> halves_;  // visited legs to check again half a frame later
  std::vector<LegHandle> idle_;                        // legs of this tick that may sleep
  Alarms alarms_{kMaxLegs};
  std::vector<LegHandle> moving_;  // legs that move to their next slot
  std::vector<std::unique_ptr<Room>> rooms_;
  std::array<std::vector<Room*>, kSlots> rooms_of_slot_;
  size_t next_slot_ = 0;
  size_t leg_count_ = 0;
  size_t idle_count_ = 0;
  int64_t ticks_ = 0;
};

}  // namespace carillon
