#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "test/support/signal.hpp"

namespace carillon::test {

/// Artificial speech without words: voiced syllables with gliding pitch and changing vowel formants,
/// fricatives and stops. It is not natural, but has realistic harmonics, levels and rhythm for detectors.
class Babble {
 public:
  explicit Babble(unsigned seed, double pitch_hz = 120.0) : random_(seed), pitch_hz_(pitch_hz) {}

  /// Returns one syllable of the given length with a peak amplitude of about `peak`.
  std::vector<std::int16_t> syllable(std::size_t samples, double peak = 9000.0) {
    const std::array<double, 3> formants{uniform(300, 850), uniform(900, 2300), uniform(2300, 3200)};
    const double start_hz = pitch_hz_ * uniform(0.85, 1.25);
    const double end_hz = pitch_hz_ * uniform(0.8, 1.15);
    const auto gains = gains_of(formants);
    const std::size_t hiss = static_cast<std::size_t>(uniform(0.0, 0.25) * static_cast<double>(samples));
    std::vector<double> raw(samples);
    double phase = 0.0;
    for (std::size_t i = 0; i < samples; ++i) {
      const double position = static_cast<double>(i) / static_cast<double>(samples);
      const double f0 = start_hz + (end_hz - start_hz) * position;
      phase += 2.0 * std::numbers::pi * f0 / 8000.0;
      if (i < hiss) {
        raw[i] = 0.25 * uniform(-1.0, 1.0);
        continue;
      }
      // sin(n a) = 2 cos(a) sin((n - 1) a) - sin((n - 2) a)
      const double twice = 2.0 * std::cos(phase + 1.0);
      double before = 0.0;
      double now = std::sin(phase + 1.0);
      for (double frequency = f0; frequency < kHighestHz; frequency += f0) {
        raw[i] += gains[static_cast<std::size_t>(frequency / kGainHz)] * now;
        const double next = twice * now - before;
        before = now;
        now = next;
      }
      raw[i] *= std::sin(std::numbers::pi * std::fmin(1.0, position * 4.0) / 2.0) *
                std::sin(std::numbers::pi * std::fmin(1.0, (1.0 - position) * 4.0) / 2.0);
    }
    return scaled(raw, peak);
  }

  /// Returns syllables of 120-260 ms with short stops, about `samples` samples in total.
  std::vector<std::int16_t> talk(std::size_t samples, double peak = 9000.0) {
    std::vector<std::int16_t> out;
    while (out.size() < samples) {
      const auto next = syllable(static_cast<std::size_t>(uniform(960, 2080)), peak * uniform(0.5, 1.0));
      out.insert(out.end(), next.begin(), next.end());
      out.resize(out.size() + static_cast<std::size_t>(uniform(80, 400)));
    }
    return out;
  }

 private:
  double uniform(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }

  static constexpr double kHighestHz = 3600.0;
  /// Resolution of the gains.
  static constexpr double kGainHz = 2.0;

  static std::vector<double> gains_of(const std::array<double, 3>& formants) {
    std::vector<double> gains(static_cast<std::size_t>(kHighestHz / kGainHz));
    for (std::size_t i = 0; i < gains.size(); ++i) {
      gains[i] = gain((static_cast<double>(i) + 0.5) * kGainHz, formants);
    }
    return gains;
  }

  static double gain(double frequency_hz, const std::array<double, 3>& formants) {
    double sum = 0.01;
    double strength = 1.0;
    for (const double formant : formants) {
      const double distance = (frequency_hz - formant) / 90.0;
      sum += strength / (1.0 + distance * distance);
      strength *= 0.5;
    }
    return sum;
  }

  static std::vector<std::int16_t> scaled(const std::vector<double>& raw, double peak) {
    double largest = 1e-9;
    for (const double value : raw) largest = std::fmax(largest, std::abs(value));
    std::vector<std::int16_t> out(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      out[i] = static_cast<std::int16_t>(std::lround(raw[i] / largest * peak));
    }
    return out;
  }

  std::mt19937 random_;
  double pitch_hz_;
};

}  // namespace carillon::test
