// Both sides of a recorded leg on the local clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/narrowband.hpp"
#include "core/record/packet_track.hpp"

namespace carillon {

/// Delays the audio of this leg by PacketTrack::kDelay and combines it with the packets of its peer and of
/// the leg that it is bridged with. Each slot lasts 20 ms. Slots missed by the media thread become silence,
/// so the recorded time equals the elapsed time.
class RecordingTimeline {
 public:
  enum class Side : uint8_t {
    received,  // packets of the peer
    far_end,   // packets of the bridged leg's peer, which the peer hears
  };

  /// `sent`: true if the sent side is recorded. All memory is allocated here.
  RecordingTimeline(SampleRate rate, bool received, bool sent);

  /// Silences keypad events and the audio shortly before them (see PacketTrack).
  void mask_keys() {
    if (received_) received_->mask_keys();
    if (far_end_) far_end_->mask_keys();
  }

  void take(Side side, const ReceivedPacket& packet);

  /// Returns the number of slots before `now` that were missed, at most kMaxMissed. Call before add(), and
  /// add silence for each.
  [[nodiscard]] int missed(Nanos now) const;
  static constexpr int kMaxMissed = 50;

  /// Returns true if the peer heard the bridged leg in the latest slot.
  [[nodiscard]] bool far_end_heard() const;

  /// Adds the slot at `now`. `own`: audio from this node for the peer; empty: silence. `far_end_heard`: true
  /// if the peer also hears the bridged leg. After each call, read with next() until it returns null.
  void add(AudioView own, bool far_end_heard, Nanos now);

  struct Sides {
    Frame received{kNarrowband};
    Frame sent{kNarrowband};
  };
  /// Returns the next slot that has waited for its packets, or null. `ends`: also the slots that wait. Valid
  /// until the next call.
  const Sides* next(bool ends = false);
  /// Starts again after a pause. Read the waiting slots first.
  void restart() { started_ = false; }

  [[nodiscard]] const PacketTrack* track(Side side) const {
    return side == Side::received ? received_.get() : far_end_.get();
  }

 private:
  static constexpr size_t kWaiting = static_cast<size_t>(PacketTrack::kDelay / kFrameTime);
  static constexpr size_t kSlots = kWaiting + 2;

  struct Slot {
    bool silent = true;
    bool far_end_heard = false;
  };

  SampleRate rate_;
  size_t frame_;
  std::unique_ptr<PacketTrack> received_;
  std::unique_ptr<PacketTrack> far_end_;
  FrameConverter converter_;
  std::array<Slot, kSlots> slots_;
  /// Own audio of the slots.
  std::vector<Sample> own_;
  size_t first_ = 0;
  size_t count_ = 0;
  bool started_ = false;
  Nanos next_slot_{};
  Sides sides_;
};

}  // namespace carillon
