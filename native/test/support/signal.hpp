#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <vector>

// Generates signals and measures audio, so that tests assert its content instead of its bytes.
namespace carillon::test {

inline std::vector<std::int16_t> sine(double frequency_hz, double amplitude, int rate_hz, std::size_t samples,
                                      double phase = 0.0) {
  std::vector<std::int16_t> out(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    out[i] = static_cast<std::int16_t>(
        std::lround(amplitude * std::sin(2.0 * std::numbers::pi * frequency_hz * t + phase)));
  }
  return out;
}

// White Gaussian noise. The same seed yields the same noise on every machine with this library.
inline std::vector<std::int16_t> noise(double rms, std::size_t samples, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, rms);
  std::vector<std::int16_t> out(samples);
  for (auto& sample : out) {
    sample = static_cast<std::int16_t>(std::lround(std::fmin(std::fmax(normal(random), -32768.0), 32767.0)));
  }
  return out;
}

inline void add(std::span<std::int16_t> target, std::span<const std::int16_t> more) {
  for (std::size_t i = 0; i < target.size() && i < more.size(); ++i) {
    const int sum = target[i] + more[i];
    target[i] = static_cast<std::int16_t>(std::fmin(std::fmax(sum, -32768), 32767));
  }
}

inline double rms(std::span<const std::int16_t> signal) {
  double sum = 0.0;
  for (const auto sample : signal) sum += static_cast<double>(sample) * sample;
  return signal.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(signal.size()));
}

inline double to_db(double ratio) { return 20.0 * std::log10(std::fmax(ratio, 1e-12)); }

struct SineFit {
  double amplitude;
  double phase;     // radians, of sin(2 pi f t + phase) with t = 0 at the first sample
  double rest_rms;  // RMS of the residual after the fit
};

// Least-squares fit of one sine with known frequency.
inline SineFit fit_sine(std::span<const std::int16_t> signal, double frequency_hz, int rate_hz) {
  const double step = 2.0 * std::numbers::pi * frequency_hz / rate_hz;
  double ss = 0, sc = 0, cc = 0, ys = 0, yc = 0;
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const double s = std::sin(step * static_cast<double>(i));
    const double c = std::cos(step * static_cast<double>(i));
    const double y = signal[i];
    ss += s * s, sc += s * c, cc += c * c, ys += y * s, yc += y * c;
  }
  const double determinant = ss * cc - sc * sc;
  const double a = (ys * cc - yc * sc) / determinant;
  const double b = (yc * ss - ys * sc) / determinant;
  double rest = 0;
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const double angle = step * static_cast<double>(i);
    const double error = signal[i] - a * std::sin(angle) - b * std::cos(angle);
    rest += error * error;
  }
  return {std::hypot(a, b), std::atan2(b, a), std::sqrt(rest / static_cast<double>(signal.size()))};
}

// Signal-to-noise ratio in dB of a signal that should be one sine.
inline double sine_snr_db(std::span<const std::int16_t> signal, double frequency_hz, int rate_hz) {
  const auto fit = fit_sine(signal, frequency_hz, rate_hz);
  return to_db(fit.amplitude / std::numbers::sqrt2 / std::fmax(fit.rest_rms, 1e-9));
}

// Level of one frequency relative to full scale (a sine of amplitude 32,768) in dB.
inline double tone_db(std::span<const std::int16_t> signal, double frequency_hz, int rate_hz) {
  return to_db(fit_sine(signal, frequency_hz, rate_hz).amplitude / 32768.0);
}

}  // namespace carillon::test
