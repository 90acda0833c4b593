// Conference mixing: each member hears all others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/frame.hpp"
#include "core/dsp/mixdown.hpp"

namespace carillon {

/// Sums one frame of all members and subtracts each member's own audio. One per room; the cost grows linearly
/// with the number of members.
class Mixer {
 public:
  /// Starts a new frame.
  void begin(SampleRate rate) noexcept {
    rate_ = rate;
    std::fill_n(sum_.begin(), frame_samples(rate), 0);
  }
  /// Sample rate of the sum.
  [[nodiscard]] SampleRate rate() const noexcept { return rate_; }
  /// Adds a member's audio, up to one frame; missing samples count as silence.
  void add(std::span<const Sample> spoken) noexcept;
  /// Removes audio that was added to this frame.
  void remove(std::span<const Sample> spoken) noexcept;
  /// Writes the mix for the member that said `own` (empty for listeners and recordings). `limiter` belongs to
  /// that member.
  void mix_without(std::span<const Sample> own, Limiter& limiter, Frame& out) const noexcept;

 private:
  SampleRate rate_ = kLineRates.front();
  // Fits 2^16 members at full scale.
  std::array<int32_t, kMaxFrameSamples> sum_{};
};

/// Floor control: determines the active speaker of a room with hysteresis, so that coughs and pauses between
/// sentences do not move the floor.
class FloorDetector {
 public:
  using Member = uint32_t;

  /// Level in dB by which a challenger must exceed the holder for kTakeOverFrames.
  static constexpr double kLouderDb = 6.0;
  static constexpr uint32_t kTakeOverFrames = 5;  // 100 ms
  /// Minimum speech to claim a free floor.
  static constexpr uint32_t kClaimFrames = 3;  // 60 ms
  /// Silence of the holder after which the floor is free.
  static constexpr uint32_t kReleaseFrames = 50;  // 1 s

  /// Starts a new frame of 20 ms.
  void begin() noexcept {
    loudest_.reset();
    holder_spoke_ = false;
  }
  /// Adds one member's frame. `speaking` is the result of its VoiceDetector.
  void add(Member member, bool speaking, double dbov) noexcept;
  /// Ends the frame. Returns true if the holder changed.
  bool decide() noexcept;

  [[nodiscard]] std::optional<Member> holder() const noexcept { return holder_; }
  /// Removes a member and frees the floor if that member held it. Returns true in that case.
  bool forget(Member member) noexcept;

 private:
  bool give_to(std::optional<Member> member) noexcept;

  struct Voice {
    Member member;
    double dbov;
  };

  std::optional<Member> holder_;
  double holder_dbov_ = 0.0;  // smoothed
  bool holder_spoke_ = false;
  uint32_t holder_silent_frames_ = 0;
  std::optional<Member> challenger_;
  uint32_t challenger_frames_ = 0;
  std::optional<Voice> loudest_;  // loudest speaker of this frame except the holder
};

}  // namespace carillon
