// Cadenced multi-frequency tones: ringback, busy, beeps and keypad digits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Simultaneous frequencies for a duration, followed by a pause.
struct ToneStep {
  static constexpr size_t kMaxFrequencies = 4;

  std::array<double, kMaxFrequencies> frequencies_hz{};
  size_t frequency_count = 0;
  uint32_t on_ms = 0;
  uint32_t off_ms = 0;
};

/// Cadence: steps in order, played once or repeated.
struct ToneSpec {
  static constexpr size_t kMaxSteps = 8;

  std::array<ToneStep, kMaxSteps> steps{};
  size_t step_count = 0;
  bool loop = false;
  /// Level of each frequency in dBm0. 0 dBm0 is 3.17 dB below the loudest PCMU sine (G.711 §6).
  double level_dbm0 = -15.0;

  /// Appends a step, truncated to the limits. Returns false if it did not fit.
  bool add(std::span<const double> frequencies_hz, uint32_t on_ms, uint32_t off_ms) noexcept;
};

/// Returns the peak amplitude of a sine at that level.
[[nodiscard]] double amplitude_of_dbm0(double level_dbm0) noexcept;

/// Renders a ToneSpec in pieces of any length. The waveform is continuous across pieces and across steps
/// without a pause. Tones start and end with a 2 ms ramp.
class ToneGenerator {
 public:
  /// Starts a cadence and replaces the current one.
  void start(const ToneSpec& spec) noexcept;
  void stop() noexcept { active_ = false; }
  [[nodiscard]] bool active() const noexcept { return active_; }

  /// Fills `out` with the cadence, then silence. Returns the number of cadence samples. If the rate changes,
  /// the cadence continues at its current position.
  size_t render(SampleRate rate, std::span<Sample> out) noexcept;

 private:
  /// Point on the unit circle that rotates by a fixed angle per sample.
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

  SampleRate rate_ = kLineRates.front();
  ToneSpec spec_{};

  bool active_ = false;
  size_t step_ = 0;
  uint64_t position_ = 0;  // samples since the step began
  bool attack_ = true;     // the step begins from silence
  bool release_ = true;    // the step ends in silence
  double amplitude_ = 0.0;
  std::array<Oscillator, ToneStep::kMaxFrequencies> oscillators_{};
};

}  // namespace carillon
