// The unit of audio inside the engine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/base/time.hpp"

namespace carillon {

using Sample = int16_t;

/// The line rate: both codecs of the line (PCMU, PCMA) sample at 8000 Hz.
inline constexpr int kLineRate = 8000;
inline constexpr int kSamplesPerMs = kLineRate / 1000;
inline constexpr int kFrameMs = 20;
inline constexpr size_t kFrameSamples = static_cast<size_t>(kSamplesPerMs) * kFrameMs;
inline constexpr Nanos kFrameTime = kFrameMs * kMillisecond;
inline constexpr Nanos kSampleTime = kSecond / kLineRate;

/// 20 ms of mono audio at the line rate.
using Frame = std::array<Sample, kFrameSamples>;

inline constexpr Frame kSilentFrame{};

inline Sample saturate(int32_t value) {
  constexpr int32_t low = std::numeric_limits<Sample>::min();
  constexpr int32_t high = std::numeric_limits<Sample>::max();
  return static_cast<Sample>(std::clamp(value, low, high));
}

}  // namespace carillon
