#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace carillon {

/// Streaming sample-rate converter: polyphase FIR with a Kaiser window over 4 ms, whatever the
/// rates, so the delay is just under 2 ms when the lower one is 8 kHz and less above. State goes on
/// from block to block; blocks may have any length. All memory is taken at construction.
class Resampler {
 public:
  /// Longest supported ratio is one of coprime terms up to 2048, e.g. 44,100 : 8,000 = 441 : 80.
  Resampler(int input_rate_hz, int output_rate_hz);

  /// Upper bound of what `process` writes for a block of that many input samples.
  [[nodiscard]] std::size_t max_output(std::size_t input_samples) const noexcept;

  /// Converts the whole block and returns how many samples were written. `out` must hold
  /// max_output(in.size()); what does not fit is lost.
  std::size_t process(std::span<const std::int16_t> in, std::span<std::int16_t> out) noexcept;

  /// Forgets the past, as if newly built.
  void reset() noexcept;

  /// Group delay of the filter in output samples, rounded to the nearest.
  [[nodiscard]] std::size_t delay_samples() const noexcept { return delay_samples_; }
  [[nodiscard]] int input_rate_hz() const noexcept { return input_rate_hz_; }
  [[nodiscard]] int output_rate_hz() const noexcept { return output_rate_hz_; }

 private:
  void design();
  [[nodiscard]] float convolve(const float* oldest, std::size_t phase) const noexcept;

  // Given.
  int input_rate_hz_;
  int output_rate_hz_;

  // Derived: output n lies at input position n * down_ / up_.
  std::size_t up_;
  std::size_t down_;
  std::size_t taps_per_phase_;
  std::size_t delay_samples_;
  std::vector<float> coefficients_;  // up_ phases of taps_per_phase_, oldest sample first

  // State.
  std::vector<float> window_;  // taps_per_phase_ - 1 samples of the past, then the block in hand
  std::size_t phase_ = 0;      // of the next output
  std::size_t skip_ = 0;       // input samples to pass over before the next output
};

/// Converts a whole recording: no delay, and length = input length * output rate / input rate.
[[nodiscard]] std::vector<std::int16_t> resample_whole(std::span<const std::int16_t> in, int input_rate_hz,
                                                       int output_rate_hz);

}  // namespace carillon
