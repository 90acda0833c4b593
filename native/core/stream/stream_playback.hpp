// The line's end of a playback queue: one frame every 20 ms, silence when nothing is there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/stream/playback_queue.hpp"

namespace carillon {

/// Starts without any prebuffer. When a bot's jitter has torn a hole into what it says, two things follow:
///
/// - a cushion of the hole's length is kept in hand from then on, and shrinks again while all goes well;
/// - the hole has made everything after it late. That debt is paid back by leaving out silent frames, so that
/// one
///   stall does not delay a bot that speaks in real time for the rest of the call. A bot that sends whole
///   utterances has no such debt, and its pauses are never touched.
class StreamPlayback {
 public:
  /// More checkpoints in one frame than that wait for the next frame.
  static constexpr size_t kMaxCheckpointsPerFrame = 16;
  static constexpr Nanos kMaxCushion = 80 * kMillisecond;
  static constexpr Nanos kMaxDebt = 2 * kSecond;

  explicit StreamPlayback(std::shared_ptr<PlaybackQueue> queue) : queue_(std::move(queue)) {}

  struct Played {
    bool audible = false;
    std::array<uint32_t, kMaxCheckpointsPerFrame> checkpoints{};
    size_t checkpoint_count = 0;
  };
  [[nodiscard]] SampleRate rate() const { return queue_->rate(); }
  /// Writes the whole of `out`, at rate().
  Played next(Nanos now, Frame& out);
  /// In the place of next() while the line carries something else, or nothing: what is queued stays where it
  /// is. A checkpoint that has no audio before it is reached all the same.
  Played wait(Nanos now);

  [[nodiscard]] Nanos cushion() const { return cushion_; }
  [[nodiscard]] Nanos debt() const { return debt_; }

 private:
  struct Filled {
    size_t samples = 0;
    bool cleared = false;
  };
  Filled fill(Frame& out, Played& played);
  void take_reached(Played& played);
  void wait_is_over(Nanos now);
  [[nodiscard]] bool speaks_live(Nanos now) const;
  bool hold_back(Nanos now);
  void judge_gap(Nanos now);
  void began(Nanos now);
  void ran_dry(Nanos now, bool cleared);
  void pay_back(Frame& out, Played& played);
  [[nodiscard]] Nanos in_hand() const { return rate().time_of(SampleCount(queue_->available())); }

  std::shared_ptr<PlaybackQueue> queue_;
  bool running_ = false;
  Nanos waiting_since_ = kNever;  // audio is there, the cushion fills
  Nanos dry_since_ = kNever;
  bool gap_is_debt_ = false;
  Nanos cushion_{};
  Nanos calm_since_{};
  Nanos debt_{};
  // Of the run in hand, to tell a bot that speaks in real time from one that sends ahead.
  Nanos run_began_{};
  Nanos most_in_hand_{};
  bool was_live_ = false;
  /// While the line is not the bot's: since when, and whether it was speaking in real time then.
  Nanos waits_since_ = kNever;
  bool waits_live_ = false;
};

}  // namespace carillon
