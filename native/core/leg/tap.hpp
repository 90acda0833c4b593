// Something that listens to a leg frame by frame: recorder, machine detector, silence watch, keypad tone
// detector.
#pragma once

#include <cstdint>

#include "core/base/events.hpp"
#include "core/base/frame.hpp"

namespace carillon {

class LegTap {
 public:
  explicit LegTap(TapHandle handle) : handle_(handle) {}
  virtual ~LegTap() = default;
  LegTap(const LegTap&) = delete;
  LegTap& operator=(const LegTap&) = delete;

  [[nodiscard]] TapHandle handle() const { return handle_; }

  /// Once every 20 ms: what was heard from the peer (after its jitter buffer) and what the peer hears.
  virtual void frame(AudioView received, AudioView sent, Nanos now, Events& events) = 0;
  /// The leg is gone; the last chance to report.
  virtual void leg_ended(Events& events) = 0;

 private:
  TapHandle handle_;
};

}  // namespace carillon
