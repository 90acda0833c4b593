// Recording rules of a leg: sides, channels, and automatic end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/frame.hpp"
#include "core/dsp/level.hpp"

namespace carillon {

/// Works at one sample rate. Receives both sides of a leg in frames of 20 ms, with silence for missing audio.
/// The sides therefore stay synchronized, and the length equals the recorded time.
class Recorder {
 public:
  enum class Side : uint8_t { received, sent, both };
  enum class End : uint8_t { silence, max_length };

  struct Options {
    Side side = Side::both;
    /// With `both`: if true, left = received and right = sent; if false, both are mixed.
    bool stereo = false;
    /// Silence of the peer in ms that ends the recording, counted from the start. 0: never.
    uint32_t silence_end_ms = 0;
    /// Maximum length in ms. 0: unlimited.
    uint64_t max_ms = 0;
  };

  Recorder(const Options& options, SampleRate rate) noexcept;

  [[nodiscard]] uint16_t channels() const noexcept { return stereo_ ? 2 : 1; }

  /// Passes 20 ms of time and the peer's audio in it, which may be empty, before their recording. They decide
  /// the automatic end.
  void hear(AudioView received) noexcept;

  /// Returns the samples to store for this frame (up to 20 ms), interleaved; valid until the next call. Empty
  /// while paused or after the maximum length.
  std::span<const Sample> take(std::span<const Sample> received, std::span<const Sample> sent) noexcept;

  /// Pauses or resumes. While paused, recording and timers stop.
  void pause(bool paused) noexcept { paused_ = paused; }

  [[nodiscard]] std::optional<End> ended() const noexcept { return end_; }
  [[nodiscard]] uint64_t duration_ms() const noexcept {
    return recorded_ / static_cast<uint64_t>(rate_.per_ms());
  }

 private:
  Options options_;
  SampleRate rate_;
  bool stereo_;

  VoiceDetector voice_;
  bool paused_ = false;
  uint64_t heard_ms_ = 0;
  uint64_t recorded_ = 0;  // samples per channel
  std::optional<End> end_;
  std::array<Sample, 2 * kMaxFrameSamples> block_{};
};

}  // namespace carillon
