// Conference audio: everybody hears everybody but themselves.
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

/// The sum of one frame of all members, from which each member's own part is taken back out. One per room;
/// cost grows with the number of members, not with its square.
class Mixer {
 public:
  /// Starts a new frame.
  void begin(SampleRate rate) noexcept {
    rate_ = rate;
    std::fill_n(sum_.begin(), frame_samples(rate), 0);
  }
  /// Of all that is added.
  [[nodiscard]] SampleRate rate() const noexcept { return rate_; }
  /// Adds what one member says (up to a frame; the rest counts as silence).
  void add(std::span<const Sample> spoken) noexcept;
  /// What a member hears who said `own` (empty for a listener or the recording), turned down by a limiter of
  /// its own where it is too loud.
  void mix_without(std::span<const Sample> own, Limiter& limiter, Frame& out) const noexcept;

 private:
  SampleRate rate_ = kLineRates.front();
  // 2^16 members of full scale fit.
  std::array<int32_t, kMaxFrameSamples> sum_{};
};

/// Who holds the floor of a room: the loudest speaker, with enough patience that neither a cough nor the
/// pause between two sentences moves it.
class FloorDetector {
 public:
  using Member = uint32_t;

  /// A challenger takes over after being this much louder for kTakeOverFrames.
  static constexpr double kLouderDb = 6.0;
  static constexpr uint32_t kTakeOverFrames = 5;  // 100 ms
  /// Speech shorter than this takes no free floor either.
  static constexpr uint32_t kClaimFrames = 3;  // 60 ms
  /// The floor is free again after so much silence of its holder.
  static constexpr uint32_t kReleaseFrames = 50;  // 1 s

  /// Starts a new frame of 20 ms.
  void begin() noexcept {
    loudest_.reset();
    holder_spoke_ = false;
  }
  /// One member's frame; `speaking` by its VoiceDetector.
  void add(Member member, bool speaking, double dbov) noexcept;
  /// Ends the frame. True when the holder changed.
  bool decide() noexcept;

  [[nodiscard]] std::optional<Member> holder() const noexcept { return holder_; }
  /// A member left; the floor is free when it was theirs. True when it was.
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
  std::optional<Voice> loudest_;  // of this frame, the holder apart
};

}  // namespace carillon
