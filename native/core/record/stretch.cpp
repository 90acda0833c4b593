#include "core/record/stretch.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace carillon {

namespace {
constexpr size_t kTaps = 2 * kStretchMargin;
constexpr size_t kPhases = 64;

using Phase = std::array<float, kTaps>;

/// Sinc with a Hann window: phase p interpolates at p / kPhases after the sample before.
std::array<Phase, kPhases + 1> design() {
  std::array<Phase, kPhases + 1> phases{};
  for (size_t p = 0; p <= kPhases; ++p) {
    const double offset = static_cast<double>(p) / kPhases;
    double sum = 0;
    for (size_t tap = 0; tap < kTaps; ++tap) {
      const double x = static_cast<double>(tap) - static_cast<double>(kStretchMargin - 1) - offset;
      const double sinc = x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
      const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * x / static_cast<double>(kStretchMargin));
      phases[p][tap] = static_cast<float>(sinc * window);
      sum += sinc * window;
    }
    for (float& weight : phases[p]) weight = static_cast<float>(weight / sum);
  }
  return phases;
}

const std::array<Phase, kPhases + 1> kPhaseTable = design();
}  // namespace

void stretch(std::span<const Sample> in, std::span<Sample> out) noexcept {
  const double step = static_cast<double>(in.size()) / static_cast<double>(out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const double position = static_cast<double>(i) * step;
    const auto whole = static_cast<size_t>(position);
    const double exact = (position - static_cast<double>(whole)) * kPhases;
    const auto phase = static_cast<size_t>(exact);
    const auto between = static_cast<float>(exact - static_cast<double>(phase));
    const Phase& low = kPhaseTable[phase];
    const Phase& high = kPhaseTable[phase + 1];
    // The first tap is kStretchMargin - 1 samples before the position.
    const Sample* const first = in.data() + whole - (kStretchMargin - 1);
    float sum_low = 0;
    float sum_high = 0;
    for (size_t tap = 0; tap < kTaps; ++tap) {
      const auto sample = static_cast<float>(first[tap]);
      sum_low += sample * low[tap];
      sum_high += sample * high[tap];
    }
    out[i] = saturate(static_cast<int32_t>(std::lrintf(sum_low + (sum_high - sum_low) * between)));
  }
}

}  // namespace carillon
