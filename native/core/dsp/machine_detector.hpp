// Answering machine detection: classifies the called party as a person or a machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/frame.hpp"
#include "core/dsp/beep_detector.hpp"
#include "core/dsp/resampler.hpp"

namespace carillon {

/// People say a word or two and wait; machines continue talking or beep. The detector splits the energy above
/// the noise floor into words and applies rules to their number and length.
///
/// The adaptive rules count sentences instead of words: a person says one sentence of at most
/// `longest_person_ms`, or two short ones, and then waits.
///
/// The noise floor is unknown if speech starts immediately. The detector therefore stores the level of every
/// 10 ms since the start. It evaluates all of them again with each frame, using the current noise floor.
class MachineDetector {
 public:
  /// Parameters from dialect §6 and the spec's table of limits.
  struct Options {
    uint32_t total_ms = 5000;            // without a decision by then: `timeout`
    uint32_t initial_silence_ms = 4500;  // no word for this long: machine
    uint32_t greeting_ms = 1500;         // more speech than this, without pauses: machine
    uint32_t maximum_words = 3;          // more words than this: machine
    uint32_t maximum_word_ms = 5000;     // a single word longer than this: machine
    /// Replaces greeting_ms and maximum_words by rules that also accept the greeting of a business.
    bool adaptive = false;
    /// Adaptive rules: longest greeting of a person, with pauses.
    uint32_t longest_person_ms = 3200;
  };

  enum class Reason : uint8_t { initial_silence, greeting, words, word_length, human, timeout, beep };

  struct Decision {
    bool machine;
    Reason reason;
    uint32_t after_ms;
  };

  explicit MachineDetector(const Options& options) noexcept;

  /// Processes a 20 ms frame from the peer at any line rate; pass silence for missing audio. Returns the
  /// decision once, then nullopt.
  std::optional<Decision> feed(AudioView frame) noexcept;

 private:
  static constexpr size_t kStepMs = 10;
  static constexpr size_t kMaxSteps = 30'000 / kStepMs;  // longest total time
  static constexpr size_t kLevels = 128;                 // by whole dBov, 0 … -127

  void note_level(std::span<const Sample> step) noexcept;
  [[nodiscard]] int voice_threshold() const noexcept;
  [[nodiscard]] int loud_level() const noexcept;
  [[nodiscard]] std::optional<Reason> judge() const noexcept;
  [[nodiscard]] Decision conclude(Reason reason) noexcept;

  Options options_;

  FrameConverter narrow_;
  BeepDetector beep_;
  std::array<uint8_t, kMaxSteps> levels_{};    // level of each 10 ms in dB below full scale
  std::array<uint16_t, kLevels> histogram_{};  // number of steps at each level
  size_t steps_ = 0;
  bool decided_ = false;
};

}  // namespace carillon
