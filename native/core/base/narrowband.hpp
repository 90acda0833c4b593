// Telephone network sample rate, used by G.711 and by the detectors of telephone signals.
#pragma once

#include "core/base/frame.hpp"

namespace carillon {

inline constexpr SampleRate kNarrowband{8000};
inline constexpr size_t kNarrowFrame = frame_samples(kNarrowband);

}  // namespace carillon
