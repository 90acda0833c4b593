// Taps that wait for an event in the received audio: machine detection and silence detection.
#pragma once

#include "core/dsp/level.hpp"
#include "core/dsp/machine_detector.hpp"
#include "core/leg/tap.hpp"

namespace carillon {

/// Reports one decision; ignores audio until it is removed.
class MachineTap final : public LegTap {
 public:
  MachineTap(TapHandle handle, const MachineDetector::Options& options)
      : LegTap(handle), detector_(options) {}

  void frame(const TapFrame& audio, Nanos now, Events& events) override;
  void leg_ended(Events& events) override;

 private:
  MachineDetector detector_;
  uint32_t heard_ms_ = 0;
  bool done_ = false;
};

class SilenceTap final : public LegTap {
 public:
  /// Reports true after `silence_ms` without voice, or false after `limit_ms` (0: no limit).
  SilenceTap(TapHandle handle, uint32_t silence_ms, uint32_t limit_ms)
      : LegTap(handle), silence_ms_(silence_ms), limit_ms_(limit_ms) {}

  void frame(const TapFrame& audio, Nanos now, Events& events) override;
  void leg_ended(Events& events) override;

 private:
  void report(bool silent, Events& events);

  uint32_t silence_ms_;
  uint32_t limit_ms_;
  VoiceDetector voice_;
  uint32_t quiet_ms_ = 0;
  uint32_t waited_ms_ = 0;
  bool done_ = false;
};

}  // namespace carillon
