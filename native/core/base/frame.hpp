// Audio frame of the engine: 20 ms at any codec sample rate.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/base/units.hpp"

namespace carillon {

using Sample = int16_t;

inline constexpr int kFrameMs = 20;
inline constexpr Nanos kFrameTime = kFrameMs * kMillisecond;
/// Packet time that few senders exceed.
inline constexpr Nanos kLongestUsualPacket = 60 * kMillisecond;

/// Sample rates of legs, rooms and playback.
inline constexpr std::array kLineRates{SampleRate(8000), SampleRate(16000), SampleRate(24000),
                                       SampleRate(48000)};
inline constexpr SampleRate kHighestRate = kLineRates.back();

/// Returns the number of samples in 20 ms.
constexpr size_t frame_samples(SampleRate rate) { return static_cast<size_t>(rate.per_ms()) * kFrameMs; }
inline constexpr size_t kMaxFrameSamples = frame_samples(kHighestRate);

/// Non-owning view of mono audio with its sample rate.
struct AudioView {
  SampleRate rate;
  std::span<const Sample> samples;

  [[nodiscard]] size_t size() const { return samples.size(); }
  [[nodiscard]] auto begin() const { return samples.begin(); }
  [[nodiscard]] auto end() const { return samples.end(); }
};

/// 20 ms of mono audio. Storage fits the highest rate; only the part for the current rate is used. A new
/// frame is uninitialized.
class Frame {
 public:
  explicit Frame(SampleRate rate) : rate_(rate) {}
  Frame(const Frame& other) : rate_(other.rate_) { copy(other); }
  Frame& operator=(const Frame& other) {
    rate_ = other.rate_;
    if (this != &other) copy(other);
    return *this;
  }
  Frame& operator=(AudioView other) {
    rate_ = other.rate;
    std::copy(other.begin(), other.end(), samples_.begin());
    return *this;
  }

  [[nodiscard]] SampleRate rate() const { return rate_; }
  /// Changes the rate. The samples are unspecified afterwards.
  void set_rate(SampleRate rate) { rate_ = rate; }
  [[nodiscard]] size_t size() const { return frame_samples(rate_); }
  [[nodiscard]] Sample* data() { return samples_.data(); }
  [[nodiscard]] const Sample* data() const { return samples_.data(); }
  [[nodiscard]] Sample* begin() { return data(); }
  [[nodiscard]] Sample* end() { return data() + size(); }
  [[nodiscard]] const Sample* begin() const { return data(); }
  [[nodiscard]] const Sample* end() const { return data() + size(); }
  Sample& operator[](size_t index) { return samples_[index]; }
  Sample operator[](size_t index) const { return samples_[index]; }
  [[nodiscard]] std::span<Sample> samples() { return {data(), size()}; }
  [[nodiscard]] std::span<const Sample> samples() const { return {data(), size()}; }
  operator AudioView() const { return {rate_, samples()}; }
  void fill(Sample value) { std::fill(begin(), end(), value); }

 private:
  void copy(const Frame& other) { std::copy(other.begin(), other.end(), samples_.begin()); }

  SampleRate rate_;
  std::array<Sample, kMaxFrameSamples> samples_;
};

/// Returns true if the audio is quiet enough that changes in it cause no audible click.
inline bool is_pause(std::span<const Sample> audio) {
  constexpr Sample kLoudest = 511;
  // Blocks without an early end, which compilers vectorize.
  constexpr size_t kBlock = 80;
  while (!audio.empty()) {
    const auto block = audio.first(std::min(audio.size(), kBlock));
    Sample low = 0;
    Sample high = 0;
    for (const Sample sample : block) {
      low = std::min(low, sample);
      high = std::max(high, sample);
    }
    if (low < -kLoudest || high > kLoudest) return false;
    audio = audio.subspan(block.size());
  }
  return true;
}

inline Sample saturate(int32_t value) {
  constexpr int32_t low = std::numeric_limits<Sample>::min();
  constexpr int32_t high = std::numeric_limits<Sample>::max();
  return static_cast<Sample>(std::clamp(value, low, high));
}

}  // namespace carillon
