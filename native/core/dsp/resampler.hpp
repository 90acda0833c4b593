// Sample rate conversion: a polyphase FIR with a Kaiser window over 4 ms, whatever the rates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/frame.hpp"

namespace carillon {

/// The filter from one rate to another: its delay is just under 2 ms. Made once, used by any number of
/// converters on any thread.
class ResamplerFilter {
 public:
  /// Rates up to kHighestHz, and a ratio of coprime terms up to 2048, e.g. 44,100 : 8,000 = 441 : 80.
  ResamplerFilter(int input_rate_hz, int output_rate_hz);

  static constexpr int kHighestHz = 48'000;
  static constexpr size_t kMaxTaps = 192;  // 4 ms at 48 kHz

  [[nodiscard]] int input_rate_hz() const noexcept { return input_rate_hz_; }
  [[nodiscard]] int output_rate_hz() const noexcept { return output_rate_hz_; }
  /// Group delay in output samples, rounded to the nearest.
  [[nodiscard]] size_t delay_samples() const noexcept { return delay_samples_; }
  /// Upper bound of what a block of that many input samples becomes.
  [[nodiscard]] size_t max_output(size_t input_samples) const noexcept;

 private:
  friend class Resampler;
  void design();

  int input_rate_hz_;
  int output_rate_hz_;
  // Output n lies at input position n * down_ / up_.
  size_t up_;
  size_t down_;
  size_t taps_per_phase_;
  size_t delay_samples_;
  std::vector<float> coefficients_;  // up_ phases of taps_per_phase_, oldest sample first
};

/// The filter between two line rates; null where they are the same. The first call makes all of them: let
/// that be on the control thread.
const ResamplerFilter* line_filter(SampleRate from, SampleRate to);

/// One signal's way through a filter; goes on from block to block, which may have any length. Small, and
/// never allocates.
class Resampler {
 public:
  /// The filter stays with its owner.
  explicit Resampler(const ResamplerFilter& filter) : filter_(&filter) {}

  /// Converts the whole block and returns how many samples were written. `out` must hold
  /// max_output(in.size()); what does not fit is lost.
  size_t process(std::span<const Sample> in, std::span<Sample> out) noexcept;
  /// Forgets the past, as if newly built.
  void reset() noexcept;

  [[nodiscard]] const ResamplerFilter& filter() const noexcept { return *filter_; }

 private:
  const ResamplerFilter* filter_;
  size_t phase_ = 0;                                      // of the next output
  size_t skip_ = 0;                                       // input samples to pass over before the next output
  std::array<Sample, ResamplerFilter::kMaxTaps> past_{};  // the newest last
};

/// Frames of one source, of whatever rate they come, for one listener.
class FrameConverter {
 public:
  /// `in` itself where it has that rate already; else `scratch`, which then holds it at that rate.
  AudioView convert(AudioView in, SampleRate rate, Frame& scratch) noexcept;
  /// Another source.
  void reset() noexcept { resampler_.reset(); }

 private:
  std::optional<Resampler> resampler_;
};

/// Converts a whole recording: no delay, and length = input length * output rate / input rate.
[[nodiscard]] std::vector<Sample> resample_whole(std::span<const Sample> in, int input_rate_hz,
                                                 int output_rate_hz);

}  // namespace carillon
