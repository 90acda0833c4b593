// Time as the core is told it: it never reads a clock.
#pragma once

#include <cstdint>

namespace carillon {

/// Monotonic nanoseconds, origin arbitrary but fixed for the life of an engine.
using Nanos = int64_t;

inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

/// The engine's tick; not to be confused with a frame (20 ms).
inline constexpr Nanos kTick = kMillisecond;

}  // namespace carillon
