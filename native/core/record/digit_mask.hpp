// Removes DTMF tones from a recording, because they can contain card numbers and PINs.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/frame.hpp"
#include "core/dsp/dtmf_detector.hpp"

namespace carillon {

/// Detection takes 40 ms, so frames are delayed by 60 ms to silence a tone from its beginning. Each side of
/// the conversation is processed separately.
class DigitMask {
 public:
  struct Sides {
    Frame received{kNarrowband};
    Frame sent{kNarrowband};
  };

  /// Returns the frame from 60 ms ago with tones silenced, or null if there is none yet. Valid until the next
  /// call.
  const Sides* push(AudioView received, AudioView sent) noexcept;

  /// Returns the remaining frames, oldest first, then null. Call at the end and before a pause.
  const Sides* pop() noexcept;

  /// Silences the remaining frames, in which a key may have begun, and the next 40 ms, in which it may end
  /// without being detected. Call before a pause.
  void interrupt() noexcept;

  /// Whether a tone sounds, or may have begun in the held frames.
  [[nodiscard]] bool doubts() const noexcept {
    return doubtful_ > 0 || received_.sounding().has_value() || sent_.sounding().has_value();
  }

 private:
  static constexpr size_t kHeldFrames = 3;
  static constexpr size_t kSlots = kHeldFrames + 1;
  /// Frames after a pause that can hold the rest of a key too short for detection.
  static constexpr size_t kDoubtfulFrames = 2;

  void judge(DtmfDetector& detector, Frame Sides::*side) noexcept;
  [[nodiscard]] Sides& held(size_t age) noexcept { return slots_[(next_ + kSlots - 1 - age) % kSlots]; }

  DtmfDetector received_;
  DtmfDetector sent_;
  std::array<Sides, kSlots> slots_{};
  size_t next_ = 0;
  size_t count_ = 0;
  size_t doubtful_ = 0;
};

}  // namespace carillon
