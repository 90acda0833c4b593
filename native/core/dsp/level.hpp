// Level measurement and voice activity detection.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Level reported for digital silence.
inline constexpr double kSilenceDbov = -127.0;

/// Returns the root mean square level in dBov, or kSilenceDbov for digital silence. 0 dBov is a full-scale
/// square wave (RFC 6464 §3).
[[nodiscard]] double level_dbov(std::span<const Sample> audio) noexcept;

/// Energy-based voice activity detector with an adaptive noise floor that falls quickly and rises slowly.
/// Frames last 10 to 20 ms.
class VoiceDetector {
 public:
  struct Options {
    /// Level above the noise floor from which a frame is voice, in dB.
    double above_floor_db = 9.0;
    /// Minimum level of voice in dBov, quieter than any speech on a telephone line.
    double quietest_voice_dbov = -52.0;
    /// Level in dBov from which a frame is voice regardless of the noise floor.
    double surely_voice_dbov = -20.0;
    /// Time in ms for which voice continues after the last loud frame. Bridges gaps between syllables.
    uint32_t hangover_ms = 200;
  };

  VoiceDetector() noexcept : VoiceDetector(Options{}) {}
  explicit VoiceDetector(const Options& options) noexcept : options_(options) {}

  /// Processes a frame. Returns true while there is voice, including the hangover.
  bool feed(AudioView frame) noexcept;

  [[nodiscard]] bool speaking() const noexcept { return speaking_; }
  /// Returns true if the last frame itself was voice, without the hangover.
  [[nodiscard]] bool loud() const noexcept { return loud_; }
  [[nodiscard]] double frame_dbov() const noexcept { return frame_dbov_; }
  [[nodiscard]] double floor_dbov() const noexcept { return floor_dbov_; }
  /// Time since the last loud frame, including the hangover, for silence timers.
  [[nodiscard]] Nanos silent_for() const noexcept { return silent_for_; }

 private:
  void adapt_floor(double frame_ms) noexcept;

  Options options_;

  double frame_dbov_ = kSilenceDbov;
  double floor_dbov_ = kUnknownFloor;
  bool loud_ = false;
  bool speaking_ = false;
  Nanos silent_for_{};

  // Initial noise floor: a quiet line.
  static constexpr double kUnknownFloor = -65.0;
};

}  // namespace carillon
