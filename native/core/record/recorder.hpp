// What goes into one recording of a leg: which side, which channels, and when it ends by itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/frame.hpp"
#include "core/dsp/level.hpp"

namespace carillon {

/// Works at one rate. Fed with both sides of a leg every 20 ms, silence where one has nothing: that grid is
/// the recording's time, so the sides stay in step and the length is the time recorded.
class Recorder {
 public:
  enum class Side : uint8_t { received, sent, both };
  enum class End : uint8_t { silence, max_length };

  struct Options {
    Side side = Side::both;
    /// With `both`: left = received, right = sent; else the two are mixed.
    bool stereo = false;
    /// Ends after so much silence from the peer, counted from the start; 0 = never.
    uint32_t silence_end_ms = 0;
    /// Ends at this length; 0 = never.
    uint64_t max_ms = 0;
  };

  Recorder(const Options& options, SampleRate rate) noexcept;

  [[nodiscard]] uint16_t channels() const noexcept { return stereo_ ? 2 : 1; }

  /// The samples to be stored for this frame (up to 20 ms), interleaved; valid until the next call. Nothing
  /// while paused or ended.
  std::span<const Sample> take(std::span<const Sample> received, std::span<const Sample> sent) noexcept;

  /// Nothing is recorded and no timer runs while paused.
  void pause(bool paused) noexcept { paused_ = paused; }

  [[nodiscard]] std::optional<End> ended() const noexcept { return end_; }
  [[nodiscard]] uint64_t duration_ms() const noexcept {
    return recorded_ / static_cast<uint64_t>(rate_.per_ms());
  }

 private:
  // Given.
  Options options_;
  SampleRate rate_;
  bool stereo_;

  // State.
  VoiceDetector voice_;
  bool paused_ = false;
  uint64_t recorded_ = 0;  // samples of one channel
  std::optional<End> end_;
  std::array<Sample, 2 * kMaxFrameSamples> block_{};
};

}  // namespace carillon
