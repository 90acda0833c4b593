// Helpers shared by the benchmarks over loopback sockets.
#pragma once

#include <algorithm>
#include <ctime>
#include <vector>

#include "core/base/narrowband.hpp"
#include "engine/media_engine.hpp"

namespace carillon {

inline const Address kLoopback = *parse_address("127.0.0.1", 0);
inline constexpr size_t kPacketBytes = kRtpHeaderBytes + kNarrowFrame;

inline Nanos clock_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * kSecond + Nanos(time.tv_nsec);
}

inline Nanos thread_cpu() { return clock_of(CLOCK_THREAD_CPUTIME_ID); }
inline Nanos wall_now() { return clock_of(CLOCK_REALTIME); }

/// Sorts the values and returns a quantile. `at` is 0..1.
inline double quantile(std::vector<double>& values, double at) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(at * static_cast<double>(values.size())))];
}

}  // namespace carillon
