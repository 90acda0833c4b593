// Leaves keypad tones out of a recording: card numbers and PINs are nobody's to keep.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/frame.hpp"
#include "core/dsp/dtmf_detector.hpp"

namespace carillon {

/// A tone is certain only after 40 ms: frames are held for 60 ms, so that its beginning can still be taken
/// back. Each side of the conversation is judged on its own and silenced on its own.
class DigitMask {
 public:
  struct Sides {
    Frame received{kNarrowband};
    Frame sent{kNarrowband};
  };

  /// The frame of 60 ms ago, with tones silenced; null until there is one. Valid until the next call.
  const Sides* push(AudioView received, AudioView sent) noexcept;

  /// At the end and before a pause: what is still held, oldest first; null when nothing is left.
  const Sides* pop() noexcept;

 private:
  static constexpr size_t kHeldFrames = 3;
  static constexpr size_t kSlots = kHeldFrames + 1;

  void judge(DtmfDetector& detector, Frame Sides::*side) noexcept;
  [[nodiscard]] Sides& held(size_t age) noexcept { return slots_[(next_ + kSlots - 1 - age) % kSlots]; }

  DtmfDetector received_;
  DtmfDetector sent_;
  std::array<Sides, kSlots> slots_{};
  size_t next_ = 0;
  size_t count_ = 0;
};

}  // namespace carillon
