// Sample rate conversion: polyphase FIR filter with a 4 ms Kaiser window.
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

/// Filter between two sample rates with a delay just under 2 ms. Immutable; any number of converters on any
/// thread may share it.
class ResamplerFilter {
 public:
  /// Supports rates up to kHighestHz with a reduced ratio of terms up to 2048, e.g. 44,100 : 8,000 = 441 :
  /// 80.
  ResamplerFilter(int input_rate_hz, int output_rate_hz);

  static constexpr int kHighestHz = 48'000;
  static constexpr size_t kMaxTaps = 192;  // 4 ms at 48 kHz

  [[nodiscard]] int input_rate_hz() const noexcept { return input_rate_hz_; }
  [[nodiscard]] int output_rate_hz() const noexcept { return output_rate_hz_; }
  /// Group delay in output samples, rounded to the nearest.
  [[nodiscard]] size_t delay_samples() const noexcept { return delay_samples_; }
  /// Returns the maximum number of output samples for `input_samples`.
  [[nodiscard]] size_t max_output(size_t input_samples) const noexcept;

 private:
  friend class Resampler;
  void design();
  void quantize();

  int input_rate_hz_;
  int output_rate_hz_;
  // Output n corresponds to input position n * down_ / up_.
  size_t up_;
  size_t down_;
  size_t taps_per_phase_;
  size_t delay_samples_;
  std::vector<float> coefficients_;  // up_ phases of taps_per_phase_, oldest sample first
  // The same in fixed point, for 8 to 16 kHz. Otherwise empty.
  std::vector<int16_t> fixed_;
};

/// Returns the shared filter between two line rates, or null if they are equal. The first call creates all
/// filters; make it on the control thread.
const ResamplerFilter* line_filter(SampleRate from, SampleRate to);

/// Converts one signal. Keeps state between blocks, which can have any length. Small and free of allocation.
class Resampler {
 public:
  /// The caller keeps ownership of the filter, which must outlive this object.
  explicit Resampler(const ResamplerFilter& filter) : filter_(&filter) {}

  /// Converts the whole block and returns the number of samples written. `out` must hold
  /// max_output(in.size()); excess samples are lost.
  size_t process(std::span<const Sample> in, std::span<Sample> out) noexcept;
  /// Resets to the initial state.
  void reset() noexcept;

  [[nodiscard]] const ResamplerFilter& filter() const noexcept { return *filter_; }

 private:
  size_t double_rate_of(std::span<const Sample> in, std::span<Sample> out) noexcept;
  void keep_past(std::span<const Sample> chunk) noexcept;

  const ResamplerFilter* filter_;
  size_t phase_ = 0;                                      // phase of the next output
  size_t skip_ = 0;                                       // input samples to skip before the next output
  std::array<Sample, ResamplerFilter::kMaxTaps> past_{};  // newest last
};

/// Converts frames of one source, at any rate, for one listener.
class FrameConverter {
 public:
  /// Returns `in` if it already has `rate`, otherwise the converted audio in `scratch`.
  AudioView convert(AudioView in, SampleRate rate, Frame& scratch) noexcept;
  /// Resets the state when the source changes.
  void reset() noexcept { resampler_.reset(); }

 private:
  std::optional<Resampler> resampler_;
};

/// Converts a whole recording without delay. Length = input length * output rate / input rate.
[[nodiscard]] std::vector<Sample> resample_whole(std::span<const Sample> in, int input_rate_hz,
                                                 int output_rate_hz);

}  // namespace carillon
