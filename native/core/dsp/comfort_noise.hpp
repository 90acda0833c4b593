// Comfort noise of RFC 3389, as in ITU-T G.711 Appendix II: noise with a level and a spectrum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/frame.hpp"

namespace carillon {

/// Generates the noise that SID payloads describe and adds it to audio. White noise passes a filter of
/// limited length, the beginning of the impulse response of the all-pole model. No coefficients can make this
/// filter unstable. A change of the filter, including the start and the end, is a crossfade.
class ComfortNoise {
 public:
  /// Reflection coefficients that are used. A payload may contain more.
  static constexpr size_t kMaxOrder = 12;
  /// Octets of a payload that are used: the level and the coefficients.
  static constexpr size_t kMaxPayload = 1 + kMaxOrder;

  ComfortNoise() noexcept;

  /// Adds noise to the next samples. `sid`: payload with at least the level octet (RFC 3389 §3). The model
  /// refers to the sample rate of `out`.
  void add(Bytes sid, std::span<Sample> out) noexcept;
  /// Adds the rest of the noise to the first samples after it. Call until active() returns false.
  void fade_out(std::span<Sample> out) noexcept;
  /// Returns true if the noise has not ended yet.
  [[nodiscard]] bool active() const noexcept { return active_; }

 private:
  static constexpr size_t kTaps = 64;
  /// Length of a crossfade in samples: 20 ms at 8 kHz.
  static constexpr size_t kChange = 160;
  static constexpr size_t kChunk = 160;
  using Taps = std::array<float, kTaps>;

  void change_to(const Taps& taps, size_t count) noexcept;
  void generate(std::span<Sample> out) noexcept;

  bool active_ = false;
  uint8_t sid_size_ = 0;
  std::array<uint8_t, kMaxPayload> sid_{};
  /// Filters before and after the current change, oldest tap first, and the taps in use from the end.
  Taps from_{};
  Taps to_{};
  size_t count_ = 0;
  size_t to_count_ = 0;
  /// Samples of the change that remain.
  size_t change_left_ = 0;
  std::array<uint32_t, 8> random_;
  /// Newest white noise, before the next samples.
  std::array<float, kTaps> past_{};
};

}  // namespace carillon
