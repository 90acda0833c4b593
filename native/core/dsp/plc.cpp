#include "core/dsp/plc.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace carillon {
namespace {

/// Parameters for `kPerMs` samples per millisecond.
template <int kPerMs>
struct Method {
  static constexpr size_t kCorrelationSamples = 20 * kPerMs;  // samples compared
  static constexpr size_t kCoarseStep = kPerMs / 4;           // step of the first search, in lags and samples
  static constexpr float kQuietEnergy =
      250.0F * kPerMs / 8;  // prevents silence from winning the search by division
  static constexpr size_t kFullLevelSamples = 10 * kPerMs;
  // Fade to silence. For 8 kHz as in the appendix. At 16 kHz a longer fade scores better: PESQ wideband 1.86
  // instead of 1.60 for 80 ms losses, and within 0.06 elsewhere.
  static constexpr float kFallSamples = (kPerMs == 8 ? 50.0F : 100.0F) * kPerMs;
  static constexpr size_t kOverlapGrowth = 4 * kPerMs;  // additional crossfade for each 10 ms lost
};

template <int kPerMs>
float level_after(size_t lost_samples) {
  using M = Method<kPerMs>;
  if (lost_samples < M::kFullLevelSamples) return 1.0F;
  return std::max(0.0F, 1.0F - static_cast<float>(lost_samples - M::kFullLevelSamples) / M::kFallSamples);
}

/// Returns the correlation of the newest samples with those `lag` earlier, with step `step`.
template <int kPerMs>
float likeness(std::span<const Sample> signal, size_t lag, size_t step) {
  constexpr size_t kCorrelationSamples = Method<kPerMs>::kCorrelationSamples;
  const size_t newest = signal.size() - kCorrelationSamples;
  float product = 0.0F;
  float energy = 0.0F;
  for (size_t i = 0; i < kCorrelationSamples; i += step) {
    const auto earlier = static_cast<float>(signal[newest - lag + i]);
    product += static_cast<float>(signal[newest + i]) * earlier;
    energy += earlier * earlier;
  }
  return product / std::sqrt(std::max(energy, Method<kPerMs>::kQuietEnergy));
}

Sample rounded(float value) { return saturate(static_cast<int32_t>(std::lrint(value))); }

/// Crossfades from `falling` to `rising` with triangular windows that add up to one.
void overlap_add(std::span<const Sample> falling, std::span<const Sample> rising, std::span<Sample> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const float weight = static_cast<float>(i + 1) / static_cast<float>(out.size() + 1);
    out[i] = rounded(falling[i] * (1.0F - weight) + rising[i] * weight);
  }
}

}  // namespace

template <int kPerMs>
void PacketLossConcealer<kPerMs>::receive(std::span<Sample> audio) noexcept {
  if (lost_samples_ > 0 && !audio.empty()) {
    // Continue the repetition, fading out, under the received audio. Longer losses match less and need a
    // longer overlap.
    const size_t growth = Method<kPerMs>::kOverlapGrowth * ((lost_samples_ - 1) / kBlock);
    const size_t overlap = std::min({pitch_ / 4 + growth, kBlock, audio.size()});
    std::array<Sample, kBlock> synthetic{};
    const auto tail = std::span(synthetic).first(overlap);
    read_cycle(tail);
    for (size_t i = 0; i < overlap; ++i) {
      const float weight = static_cast<float>(i + 1) / static_cast<float>(overlap + 1);
      const float faded = tail[i] * level_after<kPerMs>(lost_samples_ + i);
      audio[i] = rounded(faded * (1.0F - weight) + audio[i] * weight);
    }
    lost_samples_ = 0;
  }
  while (!audio.empty()) {
    const size_t size = std::min(audio.size(), kRoom);
    give_out(audio.first(size));
    audio = audio.subspan(size);
  }
}

template <int kPerMs>
void PacketLossConcealer<kPerMs>::conceal(std::span<Sample> out) noexcept {
  while (!out.empty()) {
    const size_t into_block = lost_samples_ % kBlock;
    const auto block = out.first(std::min(out.size(), kBlock - into_block));
    out = out.subspan(block.size());
    if (level_after<kPerMs>(lost_samples_) <= 0.0F) {
      // The output stays silent from here; the counter must not grow.
      std::ranges::fill(block, Sample{0});
      give_out(block);
      continue;
    }
    std::array<Sample, kBlock> synthetic{};
    const auto heard = std::span(synthetic).first(block.size());
    std::array<Sample, kDelaySamples> old_way{};
    const auto seam = std::span(old_way).first(std::min(pitch_ / 4, block.size()));
    const bool widen = into_block == 0 && lost_samples_ > 0 && cycle_ < 3 * pitch_;
    if (lost_samples_ == 0) begin_loss();
    if (widen) widen_cycle(seam);
    read_cycle(heard);
    if (widen) overlap_add(seam, heard.first(seam.size()), heard.first(seam.size()));
    for (size_t i = 0; i < block.size(); ++i) {
      block[i] = rounded(heard[i] * level_after<kPerMs>(lost_samples_ + i));
    }
    lost_samples_ += block.size();
    give_out(block);
  }
}

template <int kPerMs>
void PacketLossConcealer<kPerMs>::begin_loss() noexcept {
  const std::span<Sample, kPastSamples> past = this->past();
  std::ranges::copy(past, source_.begin());
  pitch_ = find_pitch();
  cycle_ = pitch_;
  cycle_at_ = 0;
  const size_t quarter = pitch_ / 4;
  std::copy_n(source_.end() - static_cast<ptrdiff_t>(quarter), quarter, true_end_.begin());
  join_cycle_ends();
  // The same crossfade applies to the end of the received audio, which is why it was delayed.
  for (size_t i = kPastSamples - quarter; i < kPastSamples; ++i) past[i] = source_[i];
}

/// Adds one pitch period to the cycle at the same waveform phase. `old_way` receives the continuation of the
/// old cycle.
template <int kPerMs>
void PacketLossConcealer<kPerMs>::widen_cycle(std::span<Sample> old_way) noexcept {
  const size_t resume_at = cycle_at_ % pitch_;
  read_cycle(old_way);
  cycle_ += pitch_;
  cycle_at_ = resume_at;
  join_cycle_ends();
}

/// Crossfades the last quarter period of the cycle into the audio before its start, so that it can repeat.
template <int kPerMs>
void PacketLossConcealer<kPerMs>::join_cycle_ends() noexcept {
  const size_t quarter = pitch_ / 4;
  const auto source = std::span(source_);
  overlap_add(std::span(true_end_).first(quarter), source.subspan(kPastSamples - cycle_ - quarter, quarter),
              source.last(quarter));
}

template <int kPerMs>
void PacketLossConcealer<kPerMs>::read_cycle(std::span<Sample> out) noexcept {
  for (auto& sample : out) {
    sample = source_[kPastSamples - cycle_ + cycle_at_];
    cycle_at_ = (cycle_at_ + 1) % cycle_;
  }
}

/// Appends audio to the history and replaces it with the output, which is delay() older.
template <int kPerMs>
void PacketLossConcealer<kPerMs>::give_out(std::span<Sample> audio) noexcept {
  if (audio.size() > audio_.size() - end_) {
    std::ranges::copy(past(), audio_.begin());
    end_ = kPastSamples;
  }
  std::ranges::copy(audio, std::span(audio_).subspan(end_).begin());
  end_ += audio.size();
  const auto due = std::span(audio_).subspan(end_ - audio.size() - delay_, audio.size());
  std::ranges::copy(due, audio.begin());
}

template <int kPerMs>
size_t PacketLossConcealer<kPerMs>::find_pitch() const noexcept {
  constexpr size_t kCoarseStep = Method<kPerMs>::kCoarseStep;
  size_t best = kShortestPitch;
  float best_likeness = likeness<kPerMs>(source_, best, kCoarseStep);
  for (size_t lag = kShortestPitch + kCoarseStep; lag <= kLongestPitch; lag += kCoarseStep) {
    const float now = likeness<kPerMs>(source_, lag, kCoarseStep);
    if (now > best_likeness) {
      best_likeness = now;
      best = lag;
    }
  }
  const size_t first = std::max(kShortestPitch, best - (kCoarseStep - 1));
  const size_t last = std::min(kLongestPitch, best + (kCoarseStep - 1));
  best_likeness = likeness<kPerMs>(source_, best, 1);
  for (size_t lag = first; lag <= last; ++lag) {
    const float now = likeness<kPerMs>(source_, lag, 1);
    if (now > best_likeness) {
      best_likeness = now;
      best = lag;
    }
  }
  return best;
}

template class PacketLossConcealer<8>;
template class PacketLossConcealer<16>;

}  // namespace carillon
