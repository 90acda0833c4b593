// The beep after which a voicemail records.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// One steady tone between 400 and 2,000 Hz for at least 120 ms with hardly anything beside it. Neither
/// speech nor two-tone signals (ringback, DTMF) are that.
class BeepDetector {
 public:
  /// A frame of 20 ms at 8 kHz (others are ignored). True once, in the frame in which the beep became
  /// certain.
  bool feed(std::span<const Sample> frame) noexcept;

 private:
  double frequency_hz_ = 0.0;
  double energy_ = 0.0;
  uint32_t frames_ = 0;
};

}  // namespace carillon
