// Cadenced multi-frequency tones: ringback, busy, beeps, keypad digits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// A few frequencies at once for a while, then a rest.
struct ToneStep {
  static constexpr size_t kMaxFrequencies = 4;

  std::array<double, kMaxFrequencies> frequencies_hz{};
  size_t frequency_count = 0;
  uint32_t on_ms = 0;
  uint32_t off_ms = 0;
};

/// A cadence: its steps in order, once or for ever.
struct ToneSpec {
  static constexpr size_t kMaxSteps = 8;

  std::array<ToneStep, kMaxSteps> steps{};
  size_t step_count = 0;
  bool loop = false;
  /// Of each single frequency. 0 dBm0 is 3.17 dB below the loudest sine that PCMU carries (G.711 §6).
  double level_dbm0 = -15.0;

  /// Appends a step; what is beyond the limits is left out. Returns false when it did not fit.
  bool add(std::span<const double> frequencies_hz, uint32_t on_ms, uint32_t off_ms) noexcept;
};

/// Peak of a sine at that level.
[[nodiscard]] double amplitude_of_dbm0(double level_dbm0) noexcept;

/// Renders a ToneSpec in pieces of any length; the waveform goes on across pieces, and across steps that
/// follow each other without a rest. Tones begin and end with a ramp of 2 ms.
class ToneGenerator {
 public:
  /// Begins a cadence, in place of any running one.
  void start(const ToneSpec& spec) noexcept;
  void stop() noexcept { active_ = false; }
  [[nodiscard]] bool active() const noexcept { return active_; }

  /// Writes the whole of `out`: the cadence, then silence. Returns how many samples belong to the cadence. A
  /// cadence whose rate changes goes on where it was.
  size_t render(SampleRate rate, std::span<Sample> out) noexcept;

 private:
  /// A point on the unit circle that turns by a fixed angle each sample.
  struct Oscillator {
    double frequency_hz = 0.0;
    double sine = 0.0;
    double cosine = 1.0;
    double turn_sine = 0.0;
    double turn_cosine = 1.0;
  };

  void enter_step() noexcept;
  bool next_step() noexcept;
  void sound(std::span<Sample> out) noexcept;
  [[nodiscard]] double ramp() const noexcept;
  [[nodiscard]] uint64_t samples_of(uint32_t ms) const noexcept;

  void change_rate(SampleRate rate) noexcept;

  // Given.
  SampleRate rate_ = kLineRates.front();
  ToneSpec spec_{};

  // State.
  bool active_ = false;
  size_t step_ = 0;
  uint64_t position_ = 0;  // samples since the step began
  bool attack_ = true;     // the step begins out of silence
  bool release_ = true;    // the step ends in silence
  double amplitude_ = 0.0;
  std::array<Oscillator, ToneStep::kMaxFrequencies> oscillators_{};
};

}  // namespace carillon
