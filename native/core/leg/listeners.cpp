#include "core/leg/listeners.hpp"

namespace carillon {

namespace {

MachineReason reason_of(MachineDetector::Reason reason) {
  using From = MachineDetector::Reason;
  switch (reason) {
    case From::initial_silence:
      return MachineReason::initial_silence;
    case From::greeting:
      return MachineReason::greeting;
    case From::words:
      return MachineReason::words;
    case From::word_length:
      return MachineReason::word_length;
    case From::human:
      return MachineReason::human;
    case From::timeout:
      return MachineReason::timeout;
    case From::beep:
      return MachineReason::beep;
  }
  return MachineReason::timeout;
}

}  // namespace

void MachineTap::frame(const TapFrame& audio, Nanos /*now*/, Events& events) {
  if (done_) return;
  heard_ms_ += kFrameMs;
  const auto decision = detector_.feed(audio.received);
  if (!decision) return;
  done_ = true;
  events.machine_detected(handle(), decision->machine, reason_of(decision->reason), decision->after_ms);
}

void MachineTap::leg_ended(Events& events) {
  if (!done_) events.machine_detected(handle(), false, MachineReason::ended, heard_ms_);
  done_ = true;
}

void SilenceTap::report(bool silent, Events& events) {
  done_ = true;
  events.silence_waited(handle(), silent);
}

void SilenceTap::frame(const TapFrame& audio, Nanos /*now*/, Events& events) {
  if (done_) return;
  voice_.feed(audio.received);
  quiet_ms_ = voice_.loud() ? 0 : quiet_ms_ + kFrameMs;
  waited_ms_ += kFrameMs;
  if (quiet_ms_ >= silence_ms_) {
    report(true, events);
  } else if (limit_ms_ > 0 && waited_ms_ >= limit_ms_) {
    report(false, events);
  }
}

void SilenceTap::leg_ended(Events& events) {
  if (!done_) report(false, events);
}

}  // namespace carillon
