// Packet loss concealment after the method of ITU-T G.711 Appendix I.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Fills lost audio by repeating the last pitch periods of what was heard, first one, then two, then three of
/// them so that no tone like a buzzer arises; full level for 10 ms, then 20 percent less every 10 ms, silence
/// from 60 ms on. The method is laid out for 8 kHz; at 16 kHz its times stay the same, but for the fall: 10
/// percent less every 10 ms, silence from 110 ms on.
///
/// Everything it gives out is `kDelaySamples` late: the end of the good audio must still be ours when the
/// loss becomes known, because it is blended into the repetition.
template <int kPerMs>
class PacketLossConcealer {
 public:
  /// 3.75 ms: a quarter of the longest pitch period.
  static constexpr size_t kDelaySamples = 15 * kPerMs / 4;
  /// 48.75 ms: audio from before a loss that has a part in its concealment.
  static constexpr size_t kPastSamples = 195 * kPerMs / 4;

  /// Audio that arrived, of any length. Replaced by what is to be heard.
  void receive(std::span<Sample> audio) noexcept;

  /// Audio that is missing: writes the replacement.
  void conceal(std::span<Sample> out) noexcept;

  /// True while the last call concealed.
  [[nodiscard]] bool concealing() const noexcept { return lost_samples_ > 0; }

  /// Memory that it needs while concealing() alone: until then its owner's.
  [[nodiscard]] std::span<uint8_t> spare() noexcept {
    return {reinterpret_cast<uint8_t*>(source_.data()), sizeof(source_)};
  }
  [[nodiscard]] std::span<const uint8_t> spare() const noexcept {
    return {reinterpret_cast<const uint8_t*>(source_.data()), sizeof(source_)};
  }

  /// Forgets the past, as if newly built.
  void reset() noexcept { *this = PacketLossConcealer(); }

 private:
  static constexpr size_t kShortestPitch = 5 * kPerMs;  // 5 ms, 200 Hz
  static constexpr size_t kLongestPitch = 15 * kPerMs;  // 15 ms, 66 Hz
  static constexpr size_t kBlock = 10 * kPerMs;         // the method works in steps of 10 ms
  static_assert(kPastSamples == 3 * kLongestPitch + kDelaySamples);
  // Appended before the past is moved back to the front.
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

  size_t pitch_ = kShortestPitch;
  size_t cycle_ = kShortestPitch;
  size_t cycle_at_ = 0;      // next sample of the cycle to be read
  size_t lost_samples_ = 0;  // concealed so far; 0: audio is arriving
  // The past is what stands before end_, the newest audio last; the last kDelaySamples of it have not been
  // given out yet.
  size_t end_ = kPastSamples;
  std::array<Sample, kPastSamples + kRoom> audio_{};
  // During a loss: the past as it was, ending in the cycle of 1 to 3 pitch periods that is repeated.
  std::array<Sample, kPastSamples> source_{};
  std::array<Sample, kDelaySamples> true_end_{};  // the last quarter period before it was blended
};

extern template class PacketLossConcealer<8>;
extern template class PacketLossConcealer<16>;

}  // namespace carillon
