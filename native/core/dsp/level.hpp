// How loud a frame is, and whether somebody speaks.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// What digital silence measures as.
inline constexpr double kSilenceDbov = -127.0;

/// Root mean square in dBov: 0 is a square wave of full scale (RFC 6464 §3). kSilenceDbov for digital
/// silence.
[[nodiscard]] double level_dbov(std::span<const Sample> audio) noexcept;

/// Voice by energy over a noise floor that adapts: falls at once with the quietest frames, rises slowly. Fed
/// with frames of 10 to 20 ms.
class VoiceDetector {
 public:
  struct Options {
    /// A frame is voice this much above the floor …
    double above_floor_db = 9.0;
    /// … and above this anyway: quieter than any speech on a telephone line.
    double quietest_voice_dbov = -52.0;
    /// Louder than this is voice whatever the floor has learned.
    double surely_voice_dbov = -20.0;
    /// Voice goes on for so long after its last loud frame; bridges the stops between syllables.
    uint32_t hangover_ms = 200;
  };

  VoiceDetector() noexcept : VoiceDetector(Options{}) {}
  explicit VoiceDetector(const Options& options) noexcept : options_(options) {}

  /// True while there is voice, the hangover included.
  bool feed(AudioView frame) noexcept;

  [[nodiscard]] bool speaking() const noexcept { return speaking_; }
  /// Voice in the last frame itself, no hangover.
  [[nodiscard]] bool loud() const noexcept { return loud_; }
  [[nodiscard]] double frame_dbov() const noexcept { return frame_dbov_; }
  [[nodiscard]] double floor_dbov() const noexcept { return floor_dbov_; }
  /// Since the last voice (the hangover counted as silence), for silence timers.
  [[nodiscard]] Nanos silent_for() const noexcept { return silent_for_; }

 private:
  void adapt_floor(double frame_ms) noexcept;

  // Given.
  Options options_;

  // State.
  double frame_dbov_ = kSilenceDbov;
  double floor_dbov_ = kUnknownFloor;
  bool loud_ = false;
  bool speaking_ = false;
  Nanos silent_for_{};

  // Before anything was heard: a quiet line.
  static constexpr double kUnknownFloor = -65.0;
};

}  // namespace carillon
