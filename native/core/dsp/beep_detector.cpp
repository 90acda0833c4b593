#include "core/dsp/beep_detector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace carillon {
namespace {

constexpr double kLowestHz = 400.0;
constexpr double kHighestHz = 2000.0;
// Half the width of a 20 ms filter: wherever the tone lies, one of them sees four fifths of it.
constexpr double kGridHz = 25.0;
constexpr size_t kGridPoints = static_cast<size_t>((kHighestHz - kLowestHz) / kGridHz) + 1;
// Of the frame's energy; noise 15 dB below leaves 0.97, the place between two points takes at most 0.05 of
// it.
constexpr double kPureShare = 0.85;
constexpr double kQuietestMeanSquare = 200.0 * 200.0;  // -44 dBov
constexpr uint32_t kFramesToBeep = 6;                  // 120 ms
constexpr double kDriftHz = 15.0;
constexpr double kSteady = 2.0;  // 3 dB from frame to frame

/// Energy that a sine at this frequency accounts for.
double energy_at(std::span<const Sample> frame, double frequency_hz) {
  const double turn = 2.0 * std::cos(2.0 * std::numbers::pi * frequency_hz / kLineRate);
  double last = 0.0;
  double before = 0.0;
  for (const Sample sample : frame) {
    const double next = sample + turn * last - before;
    before = last;
    last = next;
  }
  const double norm = last * last + before * before - turn * last * before;
  return 2.0 / static_cast<double>(frame.size()) * norm;
}

struct Peak {
  double frequency_hz = 0.0;
  double energy = 0.0;
};

/// Strongest sine of the frame: on the grid, then between its points by halving the step.
Peak strongest_sine(std::span<const Sample> frame) {
  Peak peak;
  for (size_t i = 0; i < kGridPoints; ++i) {
    const double frequency = kLowestHz + kGridHz * static_cast<double>(i);
    const double energy = energy_at(frame, frequency);
    if (energy > peak.energy) peak = {frequency, energy};
  }
  for (double step = kGridHz / 2; step > 3.0; step /= 2) {
    for (const double candidate : std::array{peak.frequency_hz - step, peak.frequency_hz + step}) {
      const double energy = energy_at(frame, candidate);
      if (energy > peak.energy) peak = {candidate, energy};
    }
  }
  return peak;
}

}  // namespace

bool BeepDetector::feed(std::span<const Sample> frame) noexcept {
  if (frame.size() != kFrameSamples) return false;
  double total = 0.0;
  for (const Sample sample : frame) total += static_cast<double>(sample) * sample;
  if (total < kQuietestMeanSquare * static_cast<double>(frame.size())) {
    frames_ = 0;
    return false;
  }
  const Peak peak = strongest_sine(frame);
  const bool pure = peak.energy >= kPureShare * total;
  const bool goes_on = frames_ > 0 && std::abs(peak.frequency_hz - frequency_hz_) <= kDriftHz &&
                       peak.energy < kSteady * energy_ && energy_ < kSteady * peak.energy;
  if (!pure) {
    frames_ = 0;
  } else {
    frames_ = goes_on ? frames_ + 1 : 1;
  }
  frequency_hz_ = peak.frequency_hz;
  energy_ = peak.energy;
  return frames_ == kFramesToBeep;
}

}  // namespace carillon
