// Event receiver that ignores all events; base class for receivers of some events.
#pragma once

#include "core/base/events.hpp"

namespace carillon {

struct NoEvents : Events {
  void media(StreamHandle, Bytes) override {}
  void played(StreamHandle, const ReachedCheckpoint&) override {}
  void speech(StreamHandle, bool, uint32_t, Nanos) override {}
  void interrupted(StreamHandle, const PlayPosition&, std::optional<uint32_t>) override {}
  void turn(StreamHandle, Nanos) override {}
  void dtmf(LegHandle, char, bool, Nanos) override {}
  void media_timeout(LegHandle, Nanos) override {}
  void source_changed(LegHandle, SourceChange, const Address&) override {}
  void playback_ended(PlayerHandle) override {}
  void digits_sent(JobHandle) override {}
  void recording_ended(TapHandle, RecordingEnd, uint32_t) override {}
  void machine_detected(TapHandle, bool, MachineReason, uint32_t) override {}
  void silence_waited(TapHandle, bool) override {}
  void floor_changed(RoomHandle, MemberHandle) override {}
};

}  // namespace carillon
