#include "core/dsp/resampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace carillon {
namespace {

// Stop band attenuation about 84 dB: beta = 0.1102 * (A - 8.7) (Kaiser 1974).
constexpr double kKaiserBeta = 8.3;
// The window spans this many periods of the lower rate: 4 ms at 8 kHz.
constexpr double kSpanPeriods = 32.0;
// Centre of the transition in parts of the lower rate. At 8 kHz: flat to 3.1 kHz, -6 dB at
// 3.76 kHz, stopped from 4.4 kHz on, so whatever folds back stays above the telephone band.
constexpr double kCutoff = 0.47;
// Samples taken into the window at a time: 20 ms at 48 kHz.
constexpr std::size_t kChunk = 960;
// Independent partial sums let the compiler use vector registers without reordering one sum.
constexpr std::size_t kLanes = 8;

// Modified Bessel function of the first kind, order zero, by its power series.
double bessel_i0(double x) {
  const double quarter = x * x / 4.0;
  double sum = 1.0;
  double term = 1.0;
  for (int k = 1; term > sum * 1e-12; ++k) {
    term *= quarter / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

double sinc(double x) {
  if (std::abs(x) < 1e-9) return 1.0;
  return std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

std::int16_t to_sample(float value) {
  return static_cast<std::int16_t>(std::lrintf(std::clamp(value, -32768.0F, 32767.0F)));
}

std::size_t round_up(double value, std::size_t multiple) {
  const auto whole = static_cast<std::size_t>(std::ceil(value));
  return (whole + multiple - 1) / multiple * multiple;
}

}  // namespace

Resampler::Resampler(int input_rate_hz, int output_rate_hz)
    : input_rate_hz_(input_rate_hz), output_rate_hz_(output_rate_hz) {
  const int common = std::gcd(input_rate_hz, output_rate_hz);
  up_ = static_cast<std::size_t>(output_rate_hz / common);
  down_ = static_cast<std::size_t>(input_rate_hz / common);
  const double lower_rate = std::min(input_rate_hz, output_rate_hz);
  taps_per_phase_ = up_ == down_ ? 1 : round_up(kSpanPeriods * input_rate_hz / lower_rate, kLanes);
  coefficients_.resize(up_ * taps_per_phase_);
  window_.resize(taps_per_phase_ - 1 + kChunk);
  design();
  const double delay_s =
      (static_cast<double>(up_ * taps_per_phase_) - 1.0) / 2.0 / (static_cast<double>(up_) * input_rate_hz);
  delay_samples_ = static_cast<std::size_t>(std::lround(delay_s * output_rate_hz));
}

void Resampler::design() {
  if (up_ == down_) {
    coefficients_[0] = 1.0F;
    return;
  }
  const std::size_t length = up_ * taps_per_phase_;
  const double centre = (static_cast<double>(length) - 1.0) / 2.0;
  const double lower_rate = std::min(input_rate_hz_, output_rate_hz_);
  // Of the rate at which the prototype runs: up_ times the input rate.
  const double cutoff = kCutoff * lower_rate / (static_cast<double>(up_) * input_rate_hz_);
  const double window_scale = bessel_i0(kKaiserBeta);
  for (std::size_t phase = 0; phase < up_; ++phase) {
    double sum = 0.0;
    std::vector<double> taps(taps_per_phase_);
    for (std::size_t k = 0; k < taps_per_phase_; ++k) {
      const double t = static_cast<double>(phase + k * up_) - centre;
      const double edge = t / (centre + 0.5);
      const double window = bessel_i0(kKaiserBeta * std::sqrt(1.0 - edge * edge)) / window_scale;
      taps[k] = sinc(2.0 * cutoff * t) * window;
      sum += taps[k];
    }
    // Unity gain at 0 Hz in each phase: a constant stays a constant.
    for (std::size_t k = 0; k < taps_per_phase_; ++k) {
      const std::size_t oldest_first = taps_per_phase_ - 1 - k;
      coefficients_[phase * taps_per_phase_ + oldest_first] = static_cast<float>(taps[k] / sum);
    }
  }
}

std::size_t Resampler::max_output(std::size_t input_samples) const noexcept {
  return (input_samples * up_ + down_ - 1) / down_ + 1;
}

float Resampler::convolve(const float* oldest, std::size_t phase) const noexcept {
  const float* taps = coefficients_.data() + phase * taps_per_phase_;
  if (taps_per_phase_ % kLanes != 0) return oldest[0] * taps[0];
  std::array<float, kLanes> sums{};
  for (std::size_t k = 0; k < taps_per_phase_; k += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += oldest[k + lane] * taps[k + lane];
    }
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

std::size_t Resampler::process(std::span<const std::int16_t> in, std::span<std::int16_t> out) noexcept {
  const std::size_t past = taps_per_phase_ - 1;
  std::size_t written = 0;
  while (!in.empty()) {
    const auto chunk = in.first(std::min(in.size(), kChunk));
    in = in.subspan(chunk.size());
    for (std::size_t i = 0; i < chunk.size(); ++i) window_[past + i] = chunk[i];
    while (skip_ < chunk.size()) {
      if (written < out.size()) out[written++] = to_sample(convolve(window_.data() + skip_, phase_));
      phase_ += down_;
      skip_ += phase_ / up_;
      phase_ %= up_;
    }
    skip_ -= chunk.size();
    std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(chunk.size()), past, window_.begin());
  }
  return written;
}

void Resampler::reset() noexcept {
  std::fill(window_.begin(), window_.end(), 0.0F);
  phase_ = 0;
  skip_ = 0;
}

std::vector<std::int16_t> resample_whole(std::span<const std::int16_t> in, int input_rate_hz,
                                         int output_rate_hz) {
  Resampler resampler(input_rate_hz, output_rate_hz);
  const auto length = static_cast<std::size_t>(static_cast<std::uint64_t>(in.size()) *
                                               static_cast<std::uint64_t>(output_rate_hz) /
                                               static_cast<std::uint64_t>(input_rate_hz));
  const std::size_t delay = resampler.delay_samples();
  // Silence after the end pushes the last samples through the filter.
  const auto up_to_input = [&](std::size_t samples) {
    return samples * static_cast<std::size_t>(input_rate_hz) / static_cast<std::size_t>(output_rate_hz) + 1;
  };
  const std::vector<std::int16_t> tail(up_to_input(delay + 1));
  std::vector<std::int16_t> out(resampler.max_output(in.size()) + resampler.max_output(tail.size()));
  std::size_t written = resampler.process(in, out);
  written += resampler.process(tail, std::span(out).subspan(written));
  out.resize(std::min(written, delay + length));
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::min(delay, out.size())));
  return out;
}

}  // namespace carillon
