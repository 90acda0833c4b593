// Interface of objects that receive a leg's audio frame by frame: recorder, machine detector and silence
// detector.
#pragma once

#include <cstdint>

#include "core/base/events.hpp"
#include "core/base/frame.hpp"
#include "core/record/received_packet.hpp"

namespace carillon {

/// One frame of a leg, for taps.
struct TapFrame {
  /// Audio from the peer, after its jitter buffer. Empty if no tap needs it.
  AudioView received;
  /// Audio sent to the peer. Empty if no tap needs it.
  AudioView sent;
  /// Part of the sent audio whose packets taps do not receive. Empty: silence.
  AudioView own;
  /// True if the peer also hears the far end, whose packets taps receive.
  bool far_end_heard = false;
};

class LegTap {
 public:
  explicit LegTap(TapHandle handle) : handle_(handle) {}
  virtual ~LegTap() = default;
  LegTap(const LegTap&) = delete;
  LegTap& operator=(const LegTap&) = delete;

  [[nodiscard]] TapHandle handle() const { return handle_; }

  /// Receives one frame every 20 ms.
  virtual void frame(const TapFrame& audio, Nanos now, Events& events) = 0;
  /// Receives each packet of the peer on arrival, in any order.
  virtual void packet(const ReceivedPacket& /*packet*/) {}
  /// Receives each packet of the far end of a bridge on arrival, in any order.
  virtual void far_packet(const ReceivedPacket& /*packet*/) {}
  /// Returns false if this tap needs packets and its own audio only, so that relayed audio need not be
  /// decoded.
  [[nodiscard]] virtual bool needs_frames() const { return true; }
  /// Called when the leg ends: the last opportunity to report.
  virtual void leg_ended(Events& events) = 0;

 private:
  TapHandle handle_;
};

}  // namespace carillon
