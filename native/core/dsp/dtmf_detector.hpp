// Detects DTMF digits in audio (ITU-T Q.23, Q.24), for legs without telephone-event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/narrowband.hpp"
#include "core/dsp/resampler.hpp"

namespace carillon {

/// Runs Goertzel filters over windows of 12.75 ms that overlap by half. Four consecutive matching windows
/// indicate a digit. Digits of 40 ms are always found, tones of 20 ms or less never. The last 25.5 ms must
/// then consist of two steady sines at the right frequencies, which rejects speech. Four windows without the
/// digit end it, so a 10 ms interruption does not report it twice.
class DtmfDetector {
 public:
  /// Processes up to 20 ms of audio at any line rate. Returns a digit once per press, when it is confirmed.
  /// `concealed`: a part of it was not received. Near it, a digit needs to be less pure, because a concealed
  /// packet interrupts its phase.
  std::optional<char> feed(AudioView audio, bool concealed = false) noexcept;

  /// Returns the confirmed digit that is currently sounding.
  [[nodiscard]] std::optional<char> sounding() const noexcept { return sounding_; }

  void reset() noexcept { *this = DtmfDetector(); }

 private:
  // With 102 samples, the neighbouring row frequencies lie close to the zeros of each row filter.
  static constexpr size_t kWindow = 102;
  static constexpr size_t kHop = kWindow / 2;
  static constexpr size_t kHistory = 2 * kWindow;

  /// Keypad index: 4 row + column.
  using Key = size_t;

  std::optional<char> next_window() noexcept;
  [[nodiscard]] static std::optional<Key> judge(std::span<const float, kWindow> window) noexcept;
  [[nodiscard]] bool is_pure(Key key) const noexcept;
  [[nodiscard]] bool is_clear(Key key) const noexcept;
  std::optional<char> follow(std::optional<Key> key) noexcept;

  FrameConverter narrow_;
  std::array<float, kHistory> history_{};  // newest last
  size_t until_window_ = kHop;             // samples until the next window is complete
  /// True if the previous window was skipped.
  bool left_out_ = false;
  std::optional<Key> candidate_;
  uint32_t candidate_windows_ = 0;
  std::optional<char> sounding_;
  uint32_t windows_without_ = 0;
  /// Windows that still may contain concealed audio or be next to it.
  uint32_t doubtful_windows_ = 0;
};

}  // namespace carillon
