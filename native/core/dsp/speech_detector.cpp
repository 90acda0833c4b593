#include "core/dsp/speech_detector.hpp"

#include <algorithm>
#include <cmath>

namespace carillon {
namespace {

/// Level of digital silence, and the lowest noise floor.
constexpr float kSilentLevel = -90.0F;
constexpr float kLowestSpeechFloor = -66.0F;
/// Level below which nothing is speech, in dB below full scale of the band.
constexpr float kQuietestSpeech = -54.0F;
/// Sent audio above this level can cause an echo.
constexpr float kQuietestEcho = -50.0F;
/// Echo loss assumed until it is measured, and its range. The lower end fits a loudspeaker phone without echo
/// cancellation.
constexpr float kFirstEchoLoss = 14.0F;
constexpr float kLeastEchoLoss = 4.0F;
constexpr float kMostEchoLoss = 45.0F;
constexpr float kEchoMargin = 4.0F;
/// Speech is reported when this much evidence has been collected.
constexpr float kEnough = 1.5F;
/// Prediction gain (as a ratio) from which a sound is a tone.
constexpr float kToneGain = 200.0F;
/// While the caller speaks, frames that are quieter than the speaker by more than this are background, in dB.
constexpr float kBelowSpeaker = 11.0F;
/// Decay of the level of the speaker, in dB per frame, so that a quieter speaker is followed.
constexpr float kSpeakerDecay = 0.06F;
/// In a background of voices, speech is at most this much quieter than the caller's usual speech, in dB, or
/// it exceeds the noise floor by kFarAboveFloor.
constexpr float kBelowUsual = 8.0F;
constexpr float kFarAboveFloor = 13.0F;
constexpr float kUsualDecay = 0.02F;
/// Gap in frames that a possible speech may have before it is reported.
constexpr uint32_t kLongestGapFrames = 2;

float level_of(std::span<const Sample> band) noexcept {
  int64_t energy = 0;
  for (const Sample sample : band) energy += int32_t{sample} * int32_t{sample};
  if (energy == 0) return kSilentLevel;
  const auto mean = static_cast<float>(energy) / static_cast<float>(band.size());
  constexpr float kFullScalePower = 32768.0F * 32768.0F;
  return std::max(kSilentLevel, 10.0F * std::log10(mean / kFullScalePower));
}

int32_t product(const Sample* a, const Sample* b, size_t count) noexcept {
  int32_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += int32_t{a[i]} * int32_t{b[i]};
  return sum;
}

/// Returns by how much the error of the best linear prediction from four samples is smaller than the signal
/// (covariance method). Two steady tones are predicted exactly.
float prediction_gain(const Sample* band, size_t count) noexcept {
  constexpr size_t kOrder = 4;
  std::array<std::array<double, kOrder + 1>, kOrder + 1> moments;
  for (size_t i = 0; i <= kOrder; ++i) {
    for (size_t j = i; j <= kOrder; ++j) {
      moments[i][j] = moments[j][i] = product(band - i, band - j, count);
    }
  }
  // Gaussian elimination of the past samples leaves the error in the first element.
  const double energy = moments[0][0];
  for (size_t pivot = kOrder; pivot > 0; --pivot) {
    const double divisor = moments[pivot][pivot] + 1e-9;
    for (size_t i = 0; i < pivot; ++i) {
      const double factor = moments[i][pivot] / divisor;
      for (size_t j = 0; j < pivot; ++j) moments[i][j] -= factor * moments[pivot][j];
    }
  }
  return static_cast<float>(energy / std::max(moments[0][0], 1.0));
}

}  // namespace

/// Averages down to 4 kHz and removes the frequencies around 0 and 2000 Hz.
void SpeechDetector::Narrower::reduce(AudioView in, Band& out) noexcept {
  const auto step = static_cast<size_t>(in.rate.hz() / kRate.hz());
  std::array<Sample, kFrame + 2> reduced;
  reduced[0] = past[0];
  reduced[1] = past[1];
  if (step == 2) {
    for (size_t i = 0; i < kFrame; ++i) {
      reduced[i + 2] = static_cast<Sample>((int32_t{in.samples[2 * i]} + in.samples[2 * i + 1]) / 4);
    }
  } else {
    for (size_t i = 0; i < kFrame; ++i) {
      int32_t sum = 0;
      for (size_t j = 0; j < step; ++j) sum += in.samples[i * step + j];
      reduced[i + 2] = static_cast<Sample>(sum / static_cast<int32_t>(2 * step));
    }
  }
  for (size_t i = 0; i < kFrame; ++i) {
    out[i] = static_cast<Sample>(reduced[i + 2] - reduced[i]);
  }
  past = {reduced[kFrame], reduced[kFrame + 1]};
}

SpeechDetector::SpeechDetector(const Options& options) noexcept
    : options_(options),
      threshold_db_(std::max(3.0F, 6.0F + (50.0F - static_cast<float>(options.sensitivity)) * 0.12F)),
      least_voicing_(0.5F + (50.0F - static_cast<float>(options.sensitivity)) * 0.004F),
      window_minimum_(0),
      echo_loss_db_(kFirstEchoLoss),
      echo_peak_(kSilentLevel) {
  minima_.fill(0);
  recent_levels_.fill(kSilentLevel);
  sent_levels_.fill(kSilentLevel);
}

float SpeechDetector::floor() const noexcept {
  float least = window_minimum_;
  for (const float minimum : minima_) least = std::min(least, minimum);
  return std::max(kLowestSpeechFloor, least);
}

void SpeechDetector::track_floor(float level) noexcept {
  recent_levels_[frames_ % recent_levels_.size()] = level;
  float smooth = 0;
  for (const float recent : recent_levels_) smooth += recent;
  smooth /= static_cast<float>(recent_levels_.size());
  // The first frames are quieter than the line, because the average contains digital silence.
  if (frames_ < recent_levels_.size()) smooth = level;
  window_minimum_ = std::min(window_minimum_, smooth);
  if (++window_frames_ < kFramesPerWindow) return;
  window_frames_ = 0;
  minima_[window_] = window_minimum_;
  window_ = (window_ + 1) % kFloorWindows;
  window_minimum_ = 0;
}

/// Measures how much the noise fluctuates above its floor.
void SpeechDetector::track_noise(float level) noexcept {
  const float above = std::clamp(level - floor(), 0.0F, 12.0F);
  deviation_ += (above > deviation_ ? 0.02F : 0.01F) * (above - deviation_);
}

void SpeechDetector::sent(AudioView audio) noexcept {
  Band band;
  sent_.reduce(audio, band);
  sent_levels_[sent_at_] = level_of(band);
  sent_at_ = (sent_at_ + 1) % kEchoFrames;
}

float SpeechDetector::echo_bound() const noexcept {
  const float loudest = *std::ranges::max_element(sent_levels_);
  return loudest < kQuietestEcho ? kSilentLevel : loudest - echo_loss_db_ + kEchoMargin;
}

/// Measures the echo loss while we send audio and the caller does not speak. A steady tone is not an echo of
/// speech. Sound at the noise floor hides the echo, so that its loss can only be higher.
void SpeechDetector::track_echo(float level) noexcept {
  const float loudest = *std::ranges::max_element(sent_levels_);
  if (loudest < kQuietestEcho) {
    echo_frames_ = 0;
    echo_peak_ = kSilentLevel;
    return;
  }
  if (level > echo_peak_ && !hears_tone()) echo_peak_ = level;
  if (++echo_frames_ < kEchoFrames) return;
  const float measured = loudest - std::max(echo_peak_, floor());
  const bool is_hidden = echo_peak_ < floor() + threshold_db_;
  if (!is_hidden || measured > echo_loss_db_) {
    echo_loss_db_ =
        std::clamp(echo_loss_db_ + 0.4F * (measured - echo_loss_db_), kLeastEchoLoss, kMostEchoLoss);
  }
  echo_frames_ = 0;
  echo_peak_ = kSilentLevel;
}

/// Returns the band with samples so small that the sums of their products fit into 32 bits.
SpeechDetector::TwoFrames SpeechDetector::reduced_band() const noexcept {
  TwoFrames band;
  int32_t peak = 1;
  for (const Sample sample : band_) peak = std::max(peak, std::abs(int32_t{sample}));
  int shift = 0;
  while ((peak >> shift) > 2047) ++shift;
  for (size_t i = 0; i < band.size(); ++i) band[i] = static_cast<Sample>(band_[i] >> shift);
  return band;
}

bool SpeechDetector::hears_tone() const noexcept {
  const TwoFrames band = reduced_band();
  return prediction_gain(band.data() + kFrame, kFrame) > kToneGain;
}

SpeechDetector::Voicing SpeechDetector::voicing() const noexcept {
  const TwoFrames band = reduced_band();
  const Sample* const now = band.data() + kFrame;
  const auto energy = static_cast<float>(product(now, now, kFrame));
  if (energy < 1.0F) return {};
  std::array<float, kLongestLag + 1> likeness;
  auto past_energy = energy;
  for (size_t lag = 1; lag <= kLongestLag; ++lag) {
    const Sample* const past = now - lag;
    past_energy += static_cast<float>(int32_t{past[0]} * past[0]) -
                   static_cast<float>(int32_t{past[kFrame]} * past[kFrame]);
    likeness[lag] = static_cast<float>(product(now, past, kFrame)) /
                    std::sqrt(energy * std::max(past_energy, energy * 0.05F) + 1.0F);
  }
  Voicing found;
  // The depth of the valley before a peak distinguishes pitch from the slow decay of low noise.
  float valley = 1.0F;
  for (size_t lag = 2; lag < kLongestLag; ++lag) {
    valley = std::min(valley, likeness[lag]);
    const bool peaks = likeness[lag] >= likeness[lag - 1] && likeness[lag] > likeness[lag + 1];
    if (!peaks || lag < kShortestLag) continue;
    found.strength = std::max(found.strength, std::min(likeness[lag], (likeness[lag] - valley) * 0.7F));
  }
  found.tone = found.strength > 0.0F && prediction_gain(now, kFrame) > kToneGain;
  return found;
}

std::optional<SpeechDetector::Event> SpeechDetector::feed(AudioView heard) noexcept {
  Band band;
  heard_.reduce(heard, band);
  std::copy_n(band_.begin() + kFrame, kFrame, band_.begin());
  std::ranges::copy(band, band_.begin() + kFrame);
  const float level = level_of(band);
  track_floor(level);
  ++frames_;
  const float needed = floor() + std::max(threshold_db_, 2.2F * deviation_);
  const float above = level - needed;
  const bool active = above > 0 && level > kQuietestSpeech && level > echo_bound();
  if (!speaking_ && !active) track_noise(level);
  if (!speaking_) track_echo(level);
  usual_level_ -= kUsualDecay;
  if (!speaking_) {
    const bool foreground = level > usual_level_ - kBelowUsual || level > floor() + kFarAboveFloor;
    return begin(active && foreground, above);
  }
  speaker_level_ = std::max(level, speaker_level_ - kSpeakerDecay);
  const bool near = level > speaker_level_ - kBelowSpeaker;
  return go_on(near && (active || (above > -2.0F && level > echo_bound())), above);
}

std::optional<SpeechDetector::Event> SpeechDetector::begin(bool active, float above) noexcept {
  if (run_frames_ > 0) ++run_frames_;
  if (!active) {
    if (run_frames_ > 0 && ++quiet_frames_ > kLongestGapFrames) {
      run_frames_ = active_frames_ = 0;
      evidence_ = 0;
    }
    return std::nullopt;
  }
  if (run_frames_ == 0) run_frames_ = 1;
  ++active_frames_;
  quiet_frames_ = 0;
  const Voicing voice = voicing();
  if (voice.tone) {
    evidence_ = std::max(0.0F, evidence_ - 1.0F);
  } else if (voice.strength >= least_voicing_) {
    evidence_ += 0.7F + (voice.strength - least_voicing_) * 1.5F + std::min(0.6F, above / 20.0F);
    confidence_ = std::clamp(0.5F * voice.strength + 0.4F + above / 60.0F, 0.0F, 1.0F);
  } else {
    evidence_ *= 0.9F;
  }
  if (evidence_ < kEnough || run_frames_ * kFrameMs < options_.minimum_ms) return std::nullopt;
  speaking_ = true;
  const Event event{Kind::started, run_frames_ * kFrameMs, static_cast<uint32_t>(confidence_ * 100.0F)};
  quiet_frames_ = 0;
  speaker_level_ = kSilentLevel;
  return event;
}

std::optional<SpeechDetector::Event> SpeechDetector::go_on(bool active, float /*above*/) noexcept {
  quiet_frames_ = active ? 0 : quiet_frames_ + 1;
  if (quiet_frames_ * kFrameMs < options_.end_ms) return std::nullopt;
  usual_level_ = std::max(usual_level_, speaker_level_);
  speaking_ = false;
  run_frames_ = active_frames_ = 0;
  evidence_ = 0;
  return Event{Kind::stopped, quiet_frames_ * kFrameMs, static_cast<uint32_t>(confidence_ * 100.0F)};
}

}  // namespace carillon
