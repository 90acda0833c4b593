// Detects the beep that precedes a voicemail recording.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Detects a single steady tone between 400 and 2,000 Hz of at least 120 ms with little other energy. Speech
/// and two-tone signals (ringback, DTMF) do not match.
class BeepDetector {
 public:
  /// Processes a 20 ms frame at 8 kHz; other frames are ignored. Returns true once, when the beep is
  /// confirmed.
  bool feed(std::span<const Sample> frame) noexcept;

 private:
  double frequency_hz_ = 0.0;
  double energy_ = 0.0;
  uint32_t frames_ = 0;
};

}  // namespace carillon
