// Short names for the telephone network's sample rate.
#pragma once

#include <algorithm>

#include "core/base/narrowband.hpp"

namespace carillon {

inline constexpr int kLineRate = kNarrowband.hz();
inline constexpr size_t kFrameSamples = kNarrowFrame;
inline constexpr size_t kSamplesPerMs = kNarrowband.per_ms();
inline constexpr Nanos kSampleTime = kSecond / kLineRate;

inline AudioView narrow(std::span<const Sample> audio) { return {kNarrowband, audio}; }

inline Frame silent_frame() {
  Frame frame(kNarrowband);
  frame.fill(0);
  return frame;
}
inline const Frame kSilentFrame = silent_frame();

inline bool operator==(const Frame& a, const Frame& b) {
  return a.rate() == b.rate() && std::ranges::equal(a, b);
}

}  // namespace carillon
