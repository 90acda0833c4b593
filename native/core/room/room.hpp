// Conference room on one media thread: each member hears all others. Mixed once per frame at the highest rate
// of its members. Their audio is read from the jitter buffers immediately before. Members read the mix at
// their own frame times, which follow the room.
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
  bool muted = false;     // not heard by others
  bool deaf = false;      // hears no one
  bool held = false;      // muted and deaf
  bool whispers = false;  // heard only by coached members, and not recorded
  bool coached = false;
  bool unrecorded = false;  // heard by others, but left out of the audio of taps
};

class RoomMember final : public FarEnd {
 public:
  RoomMember(MemberHandle handle, MemberFlags flags) : handle_(handle), flags_(flags) {}

  [[nodiscard]] MemberHandle handle() const { return handle_; }
  void set(MemberFlags flags) { flags_ = flags; }
  std::optional<AudioView> far_audio(Frame& out, Nanos now) override;

 private:
  friend class Room;
  void gate();

  MemberHandle handle_;
  MemberFlags flags_;
  Room* room_ = nullptr;
  Leg* leg_ = nullptr;
  bool spoke_ = false;  // is part of the current frame
  bool hears_ = false;  // a frame was mixed since it joined
  /// Audio at the room's rate.
  Frame spoken_{kLineRates.front()};
  FrameConverter to_room_;
  VoiceDetector voice_;
  /// Gate gain at the end of the previous frame. A new member is faded in.
  float gain_ = 0.0F;
  /// Limiter of the mix for this member.
  Limiter limiter_{Limiter::kRoom};
};

class Room {
 public:
  static constexpr size_t kMaxMembers = 256;
  static constexpr size_t kMaxPlayers = 8;
  static constexpr size_t kMaxTaps = 4;

  explicit Room(RoomHandle handle) : handle_(handle) { members_.reserve(kMaxMembers); }

  [[nodiscard]] RoomHandle handle() const { return handle_; }
  /// Slot of the media thread's frame in which frame() is called.
  [[nodiscard]] size_t slot() const { return slot_; }
  void stand_in(size_t slot) { slot_ = slot; }
  /// Returns true if no leg is a member.
  [[nodiscard]] bool empty() const;

  /// Adds a member. Returns false, and leaves it with the caller, if the room is full.
  bool join(std::unique_ptr<RoomMember>& member, Leg& leg);
  std::unique_ptr<RoomMember> leave(MemberHandle member, Events& events);
  RoomMember* member(MemberHandle handle);
  /// Disconnects a leg that is about to be removed. Its membership remains, silent, until removed.
  void forget(const Leg& leg, Events& events);
  /// Disconnects all legs. Objects that the room owns are destroyed with it.
  void close(Events& events);

  bool add(std::unique_ptr<Player>& player);
  bool add(std::unique_ptr<LegTap>& tap);
  Player* player(PlayerHandle handle);
  std::unique_ptr<Player> remove_player(PlayerHandle handle);
  LegTap* tap(TapHandle handle);
  std::unique_ptr<LegTap> remove_tap(TapHandle handle);

  /// Mixes the next frame. Call every 20 ms.
  void frame(Nanos now, Events& events);

 private:
  friend class RoomMember;
  void release(RoomMember& member);
  [[nodiscard]] SampleRate highest_rate() const;
  void announce_floor(Events& events) const;
  void add_whispers(Frame& out) const;
  void mix_for_taps(Frame& out);

  RoomHandle handle_;
  size_t slot_ = 0;
  Mixer mixer_;
  Mixer whispers_;
  Limiter whispers_limiter_{Limiter::kRoom};
  Frame whisper_{kLineRates.front()};
  bool whispered_ = false;  // set in the current frame
  FloorDetector floor_;
  Limiter taps_limiter_{Limiter::kRoom};
  std::vector<std::unique_ptr<RoomMember>> members_;
  std::array<std::unique_ptr<Player>, kMaxPlayers> players_;
  std::array<std::unique_ptr<LegTap>, kMaxTaps> taps_;
};

}  // namespace carillon
