#include "core/dsp/tone.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace carillon {
namespace {

// The loudest sine of mu-law (peak 32,124) is +3.17 dBm0 (G.711 §6).
constexpr double kLoudestPeak = 32124.0;
constexpr double kLoudestDbm0 = 3.17;
constexpr uint32_t kRampMs = 2;

}  // namespace

double amplitude_of_dbm0(double level_dbm0) noexcept {
  return kLoudestPeak * std::pow(10.0, (std::min(level_dbm0, kLoudestDbm0) - kLoudestDbm0) / 20.0);
}

bool ToneSpec::add(std::span<const double> frequencies_hz, uint32_t on_ms, uint32_t off_ms) noexcept {
  if (step_count == kMaxSteps) return false;
  ToneStep& step = steps[step_count];
  step = ToneStep{};
  step.on_ms = on_ms;
  step.off_ms = off_ms;
  step.frequency_count = std::min(frequencies_hz.size(), ToneStep::kMaxFrequencies);
  std::copy_n(frequencies_hz.begin(), step.frequency_count, step.frequencies_hz.begin());
  step_count += 1;
  return step.frequency_count == frequencies_hz.size();
}

void ToneGenerator::start(const ToneSpec& spec) noexcept {
  spec_ = spec;
  spec_.step_count = std::min(spec.step_count, ToneSpec::kMaxSteps);
  amplitude_ = amplitude_of_dbm0(spec.level_dbm0);
  oscillators_ = {};
  step_ = 0;
  attack_ = true;
  // A cadence without length would make `render` loop forever.
  const auto steps = std::span(spec_.steps).first(spec_.step_count);
  active_ = std::ranges::any_of(steps, [](const ToneStep& step) { return step.on_ms + step.off_ms > 0; });
  if (active_) enter_step();
}

void ToneGenerator::enter_step() noexcept {
  const ToneStep& step = spec_.steps[step_];
  const bool last = step_ + 1 == spec_.step_count;
  position_ = 0;
  release_ = step.off_ms > 0 || (last && !spec_.loop);
  for (size_t i = 0; i < oscillators_.size(); ++i) {
    Oscillator& oscillator = oscillators_[i];
    const double frequency = i < step.frequency_count ? step.frequencies_hz[i] : 0.0;
    // The same frequency in consecutive steps without a pause is one tone: keep its phase.
    if (!attack_ && oscillator.frequency_hz == frequency) continue;
    const double turn = 2.0 * std::numbers::pi * frequency / rate_.hz();
    oscillator = {frequency, 0.0, 1.0, std::sin(turn), std::cos(turn)};
  }
}

/// Advances to the next step. Returns false when the cadence has ended.
bool ToneGenerator::next_step() noexcept {
  attack_ = release_;
  step_ += 1;
  if (step_ == spec_.step_count) {
    if (!spec_.loop) return false;
    step_ = 0;
  }
  enter_step();
  return true;
}

void ToneGenerator::change_rate(SampleRate rate) noexcept {
  position_ = position_ * static_cast<uint64_t>(rate.per_ms()) / static_cast<uint64_t>(rate_.per_ms());
  rate_ = rate;
  for (Oscillator& voice : oscillators_) {
    const double turn = 2.0 * std::numbers::pi * voice.frequency_hz / rate_.hz();
    voice.turn_sine = std::sin(turn);
    voice.turn_cosine = std::cos(turn);
  }
}

size_t ToneGenerator::render(SampleRate rate, std::span<Sample> out) noexcept {
  if (rate != rate_) change_rate(rate);
  size_t written = 0;
  while (active_ && written < out.size()) {
    const ToneStep& step = spec_.steps[step_];
    const uint64_t on = samples_of(step.on_ms);
    const uint64_t end = on + samples_of(step.off_ms);
    const uint64_t boundary = position_ < on ? on : end;
    const auto size = static_cast<size_t>(std::min<uint64_t>(boundary - position_, out.size() - written));
    const auto piece = out.subspan(written, size);
    if (position_ < on) {
      sound(piece);
    } else {
      std::ranges::fill(piece, Sample{0});
      position_ += size;
    }
    written += size;
    if (position_ >= end) active_ = next_step();
  }
  std::ranges::fill(out.subspan(written), Sample{0});
  return written;
}

void ToneGenerator::sound(std::span<Sample> out) noexcept {
  const auto voices = std::span(oscillators_).first(spec_.steps[step_].frequency_count);
  for (auto& sample : out) {
    double sum = 0.0;
    for (Oscillator& voice : voices) {
      sum += voice.sine;
      const double sine = voice.sine * voice.turn_cosine + voice.cosine * voice.turn_sine;
      voice.cosine = voice.cosine * voice.turn_cosine - voice.sine * voice.turn_sine;
      voice.sine = sine;
    }
    sample = saturate(static_cast<int32_t>(std::lround(sum * amplitude_ * ramp())));
    position_ += 1;
  }
  // Rounding errors accumulate over hours, so normalize the phasor once per piece.
  for (Oscillator& voice : voices) {
    const double radius = std::hypot(voice.sine, voice.cosine);
    voice.sine /= radius;
    voice.cosine /= radius;
  }
}

double ToneGenerator::ramp() const noexcept {
  const uint64_t length = samples_of(kRampMs);
  const uint64_t on = samples_of(spec_.steps[step_].on_ms);
  double gain = 1.0;
  if (attack_ && position_ < length) gain = static_cast<double>(position_) / static_cast<double>(length);
  const uint64_t left = on - position_;
  if (release_ && left < length)
    gain = std::min(gain, static_cast<double>(left) / static_cast<double>(length));
  return gain;
}

uint64_t ToneGenerator::samples_of(uint32_t ms) const noexcept {
  return uint64_t{ms} * static_cast<uint64_t>(rate_.per_ms());
}

}  // namespace carillon
