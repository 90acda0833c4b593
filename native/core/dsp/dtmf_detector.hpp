// Keypad digits heard as tones (ITU-T Q.23, Q.24), for legs without telephone-event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/narrowband.hpp"
#include "core/dsp/resampler.hpp"

namespace carillon {

/// Goertzel filters over windows of 12.75 ms that overlap by half. Four like windows in a row name a digit,
/// so every digit of 40 ms is found and none of 20 ms or less; before it is believed, the last 25.5 ms must
/// be two steady sines at the right frequencies and hardly anything else, which speech is not. Four windows
/// without it end it, so an interruption of 10 ms does not double it.
class DtmfDetector {
 public:
  /// Up to 20 ms of audio at any line rate; the digit that became certain within it, once for each press.
  std::optional<char> feed(AudioView audio) noexcept;

  /// The digit that sounds now, as far as it is certain.
  [[nodiscard]] std::optional<char> sounding() const noexcept { return sounding_; }

  void reset() noexcept { *this = DtmfDetector(); }

 private:
  // At 102 samples the neighbours of each row frequency lie close to the zeros of its filter.
  static constexpr size_t kWindow = 102;
  static constexpr size_t kHop = kWindow / 2;
  static constexpr size_t kHistory = 2 * kWindow;

  /// Place on the keypad, 4 row + column.
  using Key = size_t;

  std::optional<char> next_window() noexcept;
  [[nodiscard]] static std::optional<Key> judge(std::span<const float, kWindow> window) noexcept;
  [[nodiscard]] bool is_pure(Key key) const noexcept;
  std::optional<char> follow(std::optional<Key> key) noexcept;

  FrameConverter narrow_;
  std::array<float, kHistory> history_{};  // newest last
  size_t until_window_ = kHop;             // samples still to come
  /// The window before the present one has not been looked at.
  bool left_out_ = false;
  std::optional<Key> candidate_;
  uint32_t candidate_windows_ = 0;
  std::optional<char> sounding_;
  uint32_t windows_without_ = 0;
};

}  // namespace carillon
