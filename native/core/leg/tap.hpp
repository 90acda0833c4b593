// Interface of objects that receive a leg's audio frame by frame: recorder, machine detector and silence
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

  /// Receives one frame every 20 ms: the audio from the peer, after its jitter buffer, and the audio sent to
  /// the peer.
  virtual void frame(AudioView received, AudioView sent, Nanos now, Events& events) = 0;
  /// Called when the leg ends: the last opportunity to report.
  virtual void leg_ended(Events& events) = 0;

 private:
  TapHandle handle_;
};

}  // namespace carillon
