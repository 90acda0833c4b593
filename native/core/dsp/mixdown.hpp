// What one listener hears in a frame: the sum of everything that sounds for him.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Turns a sum down where it would go beyond full scale, instead of cutting it off: at once, so that not one
/// sample clips, and back up over a few tenths of a second. What fits passes through as it is.
class Limiter {
 public:
  struct Bounds {
    /// What is louder is turned down …
    float threshold;
    /// … so far that its loudest sample comes to this.
    float ceiling;
  };
  /// On the line: what would clip, to 0.2 dB below full scale.
  static constexpr Bounds kLine{32767.0F, 32000.0F};
  /// In a room, where many voices meet: to 1 dB below full scale.
  static constexpr Bounds kRoom{29204.0F, 29204.0F};

  Limiter() : Limiter(kLine) {}
  explicit Limiter(Bounds bounds) : bounds_(bounds) {}

  void apply(std::span<const int32_t> sum, Frame& out);
  /// True when nothing is turned down.
  [[nodiscard]] bool rests() const { return gain_ == 1.0F; }

 private:
  Bounds bounds_;
  /// At the end of the frame before.
  float gain_ = 1.0F;
};

class Mixdown {
 public:
  explicit Mixdown(Frame& out) : out_(out) {}

  /// At the rate of `out`.
  void add(AudioView audio);
  /// Call last: writes the whole of `out`.
  void finish(Limiter& limiter);

 private:
  void widen();

  Frame& out_;
  size_t sources_ = 0;
  /// From the second source on.
  std::array<int32_t, kMaxFrameSamples> sum_;
};

}  // namespace carillon
