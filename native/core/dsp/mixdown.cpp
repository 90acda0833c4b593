#include "core/dsp/mixdown.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace carillon {

namespace {
/// Gain increase per frame (0.5 dB): recovers 6 dB in 0.25 s.
constexpr float kRelease = 1.06F;

float magnitude(int32_t value) { return std::fabs(static_cast<float>(value)); }
}  // namespace

void Limiter::apply(std::span<const int32_t> sum, Frame& out) {
  const auto loudest = std::max_element(sum.begin(), sum.end(),
                                        [](int32_t a, int32_t b) { return std::abs(a) < std::abs(b); });
  const float peak = magnitude(*loudest);
  float target = std::min(1.0F, gain_ * kRelease);
  size_t ramp = sum.size();
  if (peak * target > bounds_.threshold) {
    target = std::min(gain_, bounds_.ceiling / peak);
    // Lower the gain up to the first sample that is too loud. Earlier samples may lie on the ramp.
    const auto too_loud = [&](int32_t value) { return magnitude(value) * gain_ > bounds_.threshold; };
    ramp = static_cast<size_t>(std::find_if(sum.begin(), sum.end(), too_loud) - sum.begin());
  }
  const float step = ramp == 0 ? 0.0F : (target - gain_) / static_cast<float>(ramp);
  for (size_t i = 0; i < sum.size(); ++i) {
    const float gain = i < ramp ? gain_ + step * static_cast<float>(i + 1) : target;
    out[i] = saturate(gain == 1.0F ? sum[i]
                                   : static_cast<int32_t>(std::lrintf(static_cast<float>(sum[i]) * gain)));
  }
  gain_ = target;
}

void Mixdown::add(AudioView audio) {
  ++sources_;
  if (sources_ == 1) {
    out_ = audio;
    return;
  }
  if (sources_ == 2) widen();
  for (size_t i = 0; i < audio.size(); ++i) sum_[i] += audio.samples[i];
}

void Mixdown::widen() { std::copy(out_.begin(), out_.end(), sum_.begin()); }

void Mixdown::finish(Limiter& limiter) {
  if (sources_ == 0) out_.fill(0);
  if (sources_ < 2) {
    if (limiter.rests()) return;
    widen();
  }
  limiter.apply(std::span(sum_).first(out_.size()), out_);
}

}  // namespace carillon
