// Interface of noise suppression, echo cancellation and gain control for the caller's audio in a stream.
#pragma once

#include <span>

#include "core/base/frame.hpp"

namespace carillon {

class AudioCleaner {
 public:
  AudioCleaner() = default;
  virtual ~AudioCleaner() = default;
  AudioCleaner(const AudioCleaner&) = delete;
  AudioCleaner& operator=(const AudioCleaner&) = delete;

  /// Sample rate of all audio.
  [[nodiscard]] virtual SampleRate rate() const noexcept = 0;
  /// Receives 20 ms that are sent to the caller, as the reference for echo cancellation.
  virtual void sent(std::span<const Sample> audio) noexcept = 0;
  /// Changes 20 ms of the caller's audio. Must not allocate memory.
  virtual void clean(std::span<Sample> audio) noexcept = 0;
};

}  // namespace carillon
