// A conference on one media thread: everybody hears everybody but themselves. Mixed once per frame; members
// take their share at their own frame times. It works at the rate of the member with the highest.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/events.hpp"
#include "core/dsp/level.hpp"
#include "core/dsp/mixer.hpp"
#include "core/leg/leg.hpp"
#include "core/leg/player.hpp"
#include "core/leg/tap.hpp"

namespace carillon {

class Room;

struct MemberFlags {
  bool muted = false;     // not heard
  bool deaf = false;      // hears nobody
  bool held = false;      // both
  bool whispers = false;  // heard by coached members alone, and by no recording
  bool coached = false;
};

class RoomMember final : public FarEnd {
 public:
  RoomMember(MemberHandle handle, MemberFlags flags) : handle_(handle), flags_(flags) {}

  [[nodiscard]] MemberHandle handle() const { return handle_; }
  void set(MemberFlags flags) { flags_ = flags; }
  std::optional<AudioView> far_audio(Frame& out) override;

 private:
  friend class Room;
  void gate();

  MemberHandle handle_;
  MemberFlags flags_;
  Room* room_ = nullptr;
  Leg* leg_ = nullptr;
  bool spoke_ = false;  // part of the room's present frame
  /// At the room's rate.
  Frame spoken_{kLineRates.front()};
  FrameConverter to_room_;
  VoiceDetector voice_;
  /// Of the gate, at the end of the frame before.
  float gain_ = 1.0F;
  /// Of what it hears.
  Limiter limiter_{Limiter::kRoom};
};

class Room {
 public:
  static constexpr size_t kMaxMembers = 256;
  static constexpr size_t kMaxPlayers = 8;
  static constexpr size_t kMaxTaps = 4;

  explicit Room(RoomHandle handle) : handle_(handle) { members_.reserve(kMaxMembers); }

  [[nodiscard]] RoomHandle handle() const { return handle_; }

  /// False, and the member stays with the caller, when the room is full.
  bool join(std::unique_ptr<RoomMember>& member, Leg& leg);
  std::unique_ptr<RoomMember> leave(MemberHandle member, Events& events);
  RoomMember* member(MemberHandle handle);
  /// The leg is about to go: its membership stays as an empty chair until it is removed.
  void forget(const Leg& leg, Events& events);
  /// All legs are let go; what the room owns is destroyed with it.
  void close(Events& events);

  bool add(std::unique_ptr<Player>& player);
  bool add(std::unique_ptr<LegTap>& tap);
  Player* player(PlayerHandle handle);
  std::unique_ptr<Player> remove_player(PlayerHandle handle);
  LegTap* tap(TapHandle handle);
  std::unique_ptr<LegTap> remove_tap(TapHandle handle);

  /// Once every 20 ms.
  void frame(Nanos now, Events& events);

 private:
  friend class RoomMember;
  void release(RoomMember& member);
  [[nodiscard]] SampleRate highest_rate() const;
  void announce_floor(Events& events) const;
  void add_whispers(Frame& out) const;

  RoomHandle handle_;
  Mixer mixer_;
  Mixer whispers_;
  Limiter whispers_limiter_{Limiter::kRoom};
  Frame whisper_{kLineRates.front()};
  bool whispered_ = false;  // in the present frame
  FloorDetector floor_;
  Limiter taps_limiter_{Limiter::kRoom};
  std::vector<std::unique_ptr<RoomMember>> members_;
  std::array<std::unique_ptr<Player>, kMaxPlayers> players_;
  std::array<std::unique_ptr<LegTap>, kMaxTaps> taps_;
};

}  // namespace carillon
