// Audio cleaning with the Speex DSP library, which is loaded only when a stream requests it.
#pragma once

#include <memory>
#include <string>

#include "core/stream/audio_cleaner.hpp"

namespace carillon::speex {

struct Options {
  bool noise = false;
  bool echo = false;
  bool gain = false;
};

/// Returns why the library is unavailable, or an empty string.
[[nodiscard]] std::string problem();

/// Returns null if no option is set or the library is unavailable. Allocates memory.
[[nodiscard]] std::unique_ptr<AudioCleaner> make_cleaner(const Options& options, SampleRate rate);

}  // namespace carillon::speex
