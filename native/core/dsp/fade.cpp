#include "core/dsp/fade.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace carillon {
namespace {

/// Returns the weight of the incoming signal, which rises from just above 0 to just below 1 over the ramp.
double rising(size_t index, size_t over) {
  const double position = (static_cast<double>(index) + 0.5) / static_cast<double>(over);
  return 0.5 - 0.5 * std::cos(std::numbers::pi * position);
}

Sample weighted(double value) { return saturate(static_cast<int32_t>(std::lround(value))); }

}  // namespace

void fade_out(std::span<Sample> audio, size_t over) noexcept {
  const size_t ramp = std::min(over, audio.size());
  for (size_t i = 0; i < ramp; ++i) audio[i] = weighted(audio[i] * (1.0 - rising(i, over)));
  std::ranges::fill(audio.subspan(ramp), Sample{0});
}

void fade_in(std::span<Sample> audio, size_t over) noexcept {
  const size_t ramp = std::min(over, audio.size());
  for (size_t i = 0; i < ramp; ++i) audio[i] = weighted(audio[i] * rising(i, over));
}

void crossfade(std::span<const Sample> from, std::span<Sample> to) noexcept {
  const size_t ramp = std::min(from.size(), to.size());
  for (size_t i = 0; i < ramp; ++i) {
    const double coming = rising(i, ramp);
    to[i] = weighted(from[i] * (1.0 - coming) + to[i] * coming);
  }
}

void smooth_step(Sample before, std::span<Sample> audio, size_t over) noexcept {
  if (audio.empty()) return;
  const auto step = static_cast<double>(before - audio.front());
  const size_t ramp = std::min(over, audio.size());
  for (size_t i = 0; i < ramp; ++i) audio[i] = weighted(audio[i] + step * (1.0 - rising(i, ramp)));
}

}  // namespace carillon
