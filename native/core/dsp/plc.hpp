// Packet loss concealment based on ITU-T G.711 Appendix I.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Conceals lost audio by repeating the last pitch periods: first one, then two, then three, to avoid a
/// buzzing tone. The level is full for 10 ms, then falls by 20 percent every 10 ms to silence at 60 ms. At 16
/// kHz it falls by 10 percent every 10 ms to silence at 110 ms.
///
/// All output is delayed by `kDelaySamples`, because the end of the received audio is crossfaded into the
/// concealment once a loss is detected.
template <int kPerMs>
class PacketLossConcealer {
 public:
  /// Output delay, 3.75 ms: a quarter of the longest pitch period.
  static constexpr size_t kDelaySamples = 15 * kPerMs / 4;
  /// Audio before a loss that the concealment uses, 48.75 ms.
  static constexpr size_t kPastSamples = 195 * kPerMs / 4;

  /// Processes received audio of any length and replaces it with the output.
  void receive(std::span<Sample> audio) noexcept;

  /// Outputs audio without delay from now on. The beginning of a concealment is then not crossfaded.
  void output_undelayed() noexcept { delay_ = 0; }
  [[nodiscard]] size_t delay() const noexcept { return delay_; }

  /// Writes concealment for missing audio.
  void conceal(std::span<Sample> out) noexcept;

  /// Returns true if the last call concealed audio.
  [[nodiscard]] bool concealing() const noexcept { return lost_samples_ > 0; }

  /// Memory that the concealer uses only while concealing() is true. The owner may use it at other times.
  [[nodiscard]] std::span<uint8_t> spare() noexcept {
    return {reinterpret_cast<uint8_t*>(source_.data()), sizeof(source_)};
  }
  [[nodiscard]] std::span<const uint8_t> spare() const noexcept {
    return {reinterpret_cast<const uint8_t*>(source_.data()), sizeof(source_)};
  }

  /// Resets to the initial state.
  void reset() noexcept { *this = PacketLossConcealer(); }

 private:
  static constexpr size_t kShortestPitch = 5 * kPerMs;  // 5 ms, 200 Hz
  static constexpr size_t kLongestPitch = 15 * kPerMs;  // 15 ms, 66 Hz
  static constexpr size_t kBlock = 10 * kPerMs;         // the method works in steps of 10 ms
  static_assert(kPastSamples == 3 * kLongestPitch + kDelaySamples);
  // Samples appended before the history is moved back to the front.
  static constexpr size_t kRoom = size_t{kFrameMs} * kPerMs;

  void begin_loss() noexcept;
  void widen_cycle(std::span<Sample> old_way) noexcept;
  void join_cycle_ends() noexcept;
  void read_cycle(std::span<Sample> out) noexcept;
  void give_out(std::span<Sample> audio) noexcept;
  [[nodiscard]] size_t find_pitch() const noexcept;

  [[nodiscard]] std::span<Sample, kPastSamples> past() noexcept {
    return std::span(audio_).subspan(end_ - kPastSamples).template first<kPastSamples>();
  }

  size_t delay_ = kDelaySamples;
  size_t pitch_ = kShortestPitch;
  size_t cycle_ = kShortestPitch;
  size_t cycle_at_ = 0;      // next sample of the cycle to read
  size_t lost_samples_ = 0;  // samples concealed so far; 0 while audio is arriving
  // The history ends at end_, newest audio last. Its last delay_ samples have not been output yet.
  size_t end_ = kPastSamples;
  std::array<Sample, kPastSamples + kRoom> audio_{};
  // During a loss: the history, ending in the repeated cycle of 1 to 3 pitch periods.
  std::array<Sample, kPastSamples> source_{};
  std::array<Sample, kDelaySamples> true_end_{};  // last quarter period before the crossfade
};

extern template class PacketLossConcealer<8>;
extern template class PacketLossConcealer<16>;

}  // namespace carillon
