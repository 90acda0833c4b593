// Mixes all audio sources of one listener into a frame.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Lowers the gain when a sum would exceed full scale: immediately, so that no sample clips, with recovery
/// over a few tenths of a second. Passes other audio unchanged.
class Limiter {
 public:
  struct Bounds {
    /// Level above which the gain is lowered …
    float threshold;
    /// … so that the loudest sample has this level.
    float ceiling;
  };
  /// Bounds for a line: audio that would clip is limited to 0.2 dB below full scale.
  static constexpr Bounds kLine{32767.0F, 32000.0F};
  /// Bounds for a room with many voices: 1 dB below full scale.
  static constexpr Bounds kRoom{29204.0F, 29204.0F};

  Limiter() : Limiter(kLine) {}
  explicit Limiter(Bounds bounds) : bounds_(bounds) {}

  void apply(std::span<const int32_t> sum, Frame& out);
  /// Returns true if the gain is 1.
  [[nodiscard]] bool rests() const { return gain_ == 1.0F; }

 private:
  Bounds bounds_;
  /// Gain at the end of the previous frame.
  float gain_ = 1.0F;
};

class Mixdown {
 public:
  explicit Mixdown(Frame& out) : out_(out) {}

  /// Adds audio, which must have the rate of `out`.
  void add(AudioView audio);
  /// Writes the complete frame to `out`. Call last.
  void finish(Limiter& limiter);

 private:
  void widen();

  Frame& out_;
  size_t sources_ = 0;
  /// Sum, used from the second source on.
  std::array<int32_t, kMaxFrameSamples> sum_;
};

}  // namespace carillon
