// All legs of one media thread, and the order in which a tick visits them. No socket, no clock, no thread: it
// is handed datagrams and told the time, and hands packets and events to two sinks.
//
// A leg that neither hears nor says anything naps: it is not visited until a datagram, a command or its own
// next time (keep-alive, report, media timeout) wakes it. What it left out is made good in its timestamps.
// So does one that only relays, and is only relayed: the datagrams that go on do not wake it.
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
  /// Peers that were found at another address than before.
  uint64_t source_changes = 0;
  uint64_t skipped_ticks = 0;
  /// Commands whose leg, room or object was not there (any more), or was full.
  uint64_t unknown_handles = 0;
};

class MediaCore {
 public:
  /// Legs of one media thread; beyond it the control thread refuses new ones.
  static constexpr uint32_t kMaxLegs = 4096;
  static constexpr uint32_t kIndexMask = kMaxLegs - 1;
  static constexpr int kSlots = kFrameMs;
  static constexpr size_t kMaxRooms = 1024;

  /// Of a leg's place among the living.
  static constexpr uint32_t index_of(LegHandle leg) { return leg.value() & kIndexMask; }

  MediaCore(PacketSink& sink, Events& events);

  /// Of the tick that comes next. A frame's slots are those of absolute time, so that a leg that goes to
  /// another core keeps its moment. Before the first tick.
  void begin_at(int64_t tick) { ticks_ = tick; }
  [[nodiscard]] int64_t next_tick() const { return ticks_; }

  /// A handle's low bits are the leg's index, unique among live legs; the high bits tell generations apart.
  void add_leg(std::unique_ptr<Leg> leg);
  std::unique_ptr<Leg> remove_leg(LegHandle handle, Nanos now);

  /// A leg on its way to another core, out of its bridge or room.
  struct Departed {
    std::unique_ptr<Leg> leg;
    /// Its last visit was in this tick.
    int64_t visited = 0;
    /// It may not be visited before.
    int64_t next_tick = 0;
  };
  /// Without a leg when it is not here.
  Departed release_leg(LegHandle handle);
  /// Once next_tick() is not before the departed's. Visits that it has missed on its way are made good.
  void receive_leg(Departed& departed, Nanos now);
  /// To change it: a leg that naps wakes.
  [[nodiscard]] Leg* leg(LegHandle handle);
  [[nodiscard]] const Leg* peek(LegHandle handle) const;

  /// Both hear each other until one of them leaves or hears something else.
  /// False when one of them is not here.
  bool bridge(LegHandle a, LegHandle b);
  bool unbridge(LegHandle a, LegHandle b);

  /// False, and the room stays with the caller, when kMaxRooms are open.
  bool add_room(std::unique_ptr<Room>& room);
  /// Lets every member go.
  std::unique_ptr<Room> remove_room(RoomHandle handle);
  [[nodiscard]] Room* room(RoomHandle handle);
  /// A leg that was bridged, or in another room, leaves there. False, and `member` stays with the caller,
  /// when it cannot join.
  bool join(RoomHandle room, LegHandle leg, std::unique_ptr<RoomMember>& member);

  /// Hints: a datagram for this leg is awaited; it is so many steps away (Leg::expect_packet). The first
  /// brings the way to the leg nearer to the processor, the others the leg.
  void expect_soon(LegHandle leg) const { prefetch(&legs_[index_of(leg)], sizeof(Entry)); }
  void expect(LegHandle leg, size_t ahead) const {
    if (const Leg* const found = legs_[index_of(leg)].leg.get()) found->expect_packet(ahead);
  }
  void receive(LegHandle leg, std::span<uint8_t> datagram, const Address& source, Nanos arrival);
  void receive_rtcp(LegHandle leg, std::span<uint8_t> datagram, const Address& source, Nanos arrival);
  /// Who negotiates keys; without, what belongs to that is dropped.
  void exchange_keys_by(KeyExchange& exchange) { key_exchange_ = &exchange; }
  /// A datagram of the exchange, to wherever the leg's peer is; dropped as long as that is not known.
  void send_to_peer(LegHandle leg, Bytes datagram);
  [[nodiscard]] bool can_reach(LegHandle leg) const;
  /// By its name.
  void tell_reachable(LegHandle name, const Address& peer) {
    if (key_exchange_ != nullptr) key_exchange_->reachable(name, peer);
  }

  /// Something of the exchange has not found its leg here.
  void tell_keys_unmet() {
    if (key_exchange_ != nullptr) key_exchange_->unmet();
  }

  /// Call once each millisecond.
  void tick(Nanos now);
  /// So many milliseconds are left out.
  void skip_ticks(int64_t count);
  /// Ticks in which tick() would find nothing to do, from the next one on and at most `limit`.
  [[nodiscard]] int64_t idle_ticks(int64_t limit) const;
  /// No tick finds anything to do.
  [[nodiscard]] bool at_rest() const { return leg_count_ == napping_count_ && rooms_.empty(); }
  /// At rest, until then.
  [[nodiscard]] std::optional<Nanos> next_alarm() const { return alarms_.next(); }
  /// So many ticks were left out while at rest.
  void pass(int64_t ticks) { ticks_ += ticks; }

  /// A command found nobody, or no room, where it was sent.
  void missed() { ++counters_.unknown_handles; }
  [[nodiscard]] Events& events() { return events_; }
  [[nodiscard]] const CoreCounters& counters() const { return counters_; }
  [[nodiscard]] size_t leg_count() const { return leg_count_; }

 private:
  /// The other leg of a bridge as a far end.
  class BridgeEnd : public FarEnd {
   public:
    std::optional<AudioView> far_audio(Frame& /*out*/) override {
      return other->decodes() ? std::optional(other->received()) : std::nullopt;
    }
    [[nodiscard]] bool may_speak(Nanos now) const override { return other->hears(now); }
    [[nodiscard]] bool listens() const override { return other->needs_far_audio(); }
    [[nodiscard]] SampleRate hears_at() const override { return other->full_rate(); }
    bool go_on_after_relay(SampleRate rate, std::span<Sample> out) override {
      return other->go_on_after_relay(rate, out);
    }
    void begin_to_listen() override { core->wake(core->legs_[index_of(other_handle)]); }
    MediaCore* core = nullptr;
    Leg* other = nullptr;
    LegHandle other_handle;
  };

  /// Keeps packets until a few legs have made theirs, at the longest until the end of the tick: legs that
  /// took turns with system calls would find the processor's caches full of the kernel's code, and the kernel
  /// of ours.
  class PacketBatch : public PacketSink {
   public:
    PacketBatch(PacketSink& inner, CoreCounters& counters) : inner_(inner), counters_(counters) {}
    /// `packet` stands until flush(), as PacketRoom's do: a leg sends one at a visit.
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
    bool napping = false;
    /// Its datagrams are fetched as soon as they come.
    bool prompt = false;
    /// A command has changed it: whether it may nap is to be seen before its next visit.
    bool changed = false;
    /// While it naps: the tick of its last visit, or of the one before the first.
    int64_t visited = 0;
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
  void wake(Entry& napping);
  void change(Entry& found);
  void wake_due(Nanos now);
  bool lay_down(Entry& awake, Nanos now);
  void lay_down_idle(Nanos now);
  void expect_half(const Leg& leg, size_t slot);
  void send_halves(std::vector<LegHandle>& due);

  // Given.
  PacketSink& sink_;
  Events& events_;
  KeyExchange* key_exchange_ = nullptr;
  // Owned.
  CoreCounters counters_;
  PacketBatch batch_;
  std::vector<Entry> legs_;
  std::array<std::vector<Leg*>, kSlots> slots_;  // those that do not nap
  std::array<size_t, kSlots> slot_sizes_{};      // with those that do
  std::vector<LegHandle> changed_;
  std::array<std::vector<LegHandle>, kSlots> halves_;  // visited, and to be asked again half a frame later
  std::vector<LegHandle> idle_;                        // of this tick: they may nap
  Alarms alarms_{kMaxLegs};
  std::vector<std::unique_ptr<Room>> rooms_;
  // State.
  size_t next_slot_ = 0;
  size_t leg_count_ = 0;
  size_t napping_count_ = 0;
  int64_t ticks_ = 0;
};

}  // namespace carillon
