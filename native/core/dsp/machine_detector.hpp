// Answering machine detection: did a person or a machine pick up?
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

/// People say a word or two and wait; machines talk on, or beep. Energy above a noise floor is cut into
/// words, and the rules below decide on their number and length.
///
/// The floor of a line is not known when somebody speaks from the first instant. So the detector keeps the
/// level of every 10 ms since the start and, with each frame, judges the whole of it anew by what is now
/// known of the floor: what first seemed a noisy line becomes speech at the first pause between syllables.
class MachineDetector {
 public:
  /// dialect §6 and the spec's table of limits.
  struct Options {
    uint32_t total_ms = 5000;            // no decision by then: `timeout`
    uint32_t initial_silence_ms = 4500;  // nobody says a word: machine
    uint32_t greeting_ms = 1500;         // more speech than this, pauses not counted: machine
    uint32_t maximum_words = 3;          // more words than this: machine
    uint32_t maximum_word_ms = 5000;     // a single word longer than this: machine
  };

  enum class Reason : uint8_t { initial_silence, greeting, words, word_length, human, timeout, beep };

  struct Decision {
    bool machine;
    Reason reason;
    uint32_t after_ms;
  };

  explicit MachineDetector(const Options& options) noexcept;

  /// A frame of 20 ms from the peer at any line rate, silence where nothing came. Returns the decision once;
  /// afterwards nothing.
  std::optional<Decision> feed(AudioView frame) noexcept;

 private:
  static constexpr size_t kStepMs = 10;
  static constexpr size_t kMaxSteps = 30'000 / kStepMs;  // longest total time
  static constexpr size_t kLevels = 128;                 // by whole dBov, 0 … -127

  void note_level(std::span<const Sample> step) noexcept;
  [[nodiscard]] int voice_threshold() const noexcept;
  [[nodiscard]] std::optional<Reason> judge() const noexcept;
  [[nodiscard]] Decision conclude(Reason reason) noexcept;

  // Given.
  Options options_;

  // State.
  FrameConverter narrow_;
  BeepDetector beep_;
  std::array<uint8_t, kMaxSteps> levels_{};    // below full scale in dB, of each 10 ms
  std::array<uint16_t, kLevels> histogram_{};  // how often each occurred
  size_t steps_ = 0;
  bool decided_ = false;
};

}  // namespace carillon
