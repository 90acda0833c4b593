// The rate of the telephone network: of G.711, and of what listens for signals of the telephone network.
#pragma once

#include "core/base/frame.hpp"

namespace carillon {

inline constexpr SampleRate kNarrowband{8000};
inline constexpr size_t kNarrowFrame = frame_samples(kNarrowband);

}  // namespace carillon
