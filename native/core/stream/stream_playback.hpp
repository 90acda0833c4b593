// Consumer side of a playback queue: one frame every 20 ms, silence if the queue is empty.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/stream/playback_queue.hpp"

namespace carillon {

/// Starts without prebuffering. After jitter has caused a gap in a bot's speech:
/// - a cushion of the gap's length is kept from then on, and shrinks while there is no further gap;
/// - the delay that the gap added is removed by skipping silent frames. One stall therefore does not delay a
/// real-time bot for the rest of the call. Bots that send whole utterances accumulate no delay, and their
/// pauses are kept.
/// A stall of the media thread counts as such a gap, because a real-time bot's audio waits.
class StreamPlayback {
 public:
  /// Maximum number of checkpoints per frame. Further ones wait for the next frame.
  static constexpr size_t kMaxCheckpointsPerFrame = 16;
  static constexpr Nanos kMaxCushion = 80 * kMillisecond;
  static constexpr Nanos kMaxDebt = 2 * kSecond;

  explicit StreamPlayback(std::shared_ptr<PlaybackQueue> queue) : queue_(std::move(queue)) {}

  struct Played {
    bool audible = false;
    std::array<ReachedCheckpoint, kMaxCheckpointsPerFrame> checkpoints{};
    size_t checkpoint_count = 0;
    /// Result of interrupt(), if it has discarded audio.
    std::optional<PlaybackQueue::Dropped> interrupted;
  };
  [[nodiscard]] SampleRate rate() const { return queue_->rate(); }
  /// Fills `out` at rate().
  Played next(Nanos now, Frame& out);
  /// Call instead of next() while the line carries other audio or none. Queued audio stays; checkpoints
  /// without preceding audio are reached.
  Played wait(Nanos now);

  /// Discards all queued audio with the next frame, and all audio that follows until resume() or until the
  /// producer clears the queue: audio of an interrupted utterance is still on its way. Without effect if
  /// nothing is queued.
  void interrupt() { interrupts_ = true; }
  void resume() { hushed_ = interrupts_ = false; }

  [[nodiscard]] Nanos cushion() const { return cushion_; }
  [[nodiscard]] Nanos debt() const { return debt_; }

 private:
  struct Filled {
    size_t samples = 0;
    bool cleared = false;
  };
  Filled fill(Frame& out, Played& played);
  void take_reached(Played& played);
  bool hush(Nanos now, std::span<Sample> out, Played& played);
  void wait_is_over(Nanos now);
  void visited(Nanos now);
  [[nodiscard]] bool speaks_live(Nanos now) const;
  bool hold_back(Nanos now);
  void judge_gap(Nanos now);
  void began(Nanos now);
  void ran_dry(Nanos now, bool cleared);
  void pay_back(Frame& out, Played& played);
  [[nodiscard]] Nanos in_hand() const { return rate().time_of(SampleCount(queue_->available())); }

  std::shared_ptr<PlaybackQueue> queue_;
  /// Time of the latest frame.
  Nanos visited_at_ = kNever;
  bool interrupts_ = false;
  bool hushed_ = false;
  bool running_ = false;
  Nanos waiting_since_ = kNever;  // start of waiting for the cushion to fill
  Nanos dry_since_ = kNever;
  bool gap_is_debt_ = false;
  bool gap_is_jitter_ = false;
  Nanos cushion_{};
  Nanos calm_since_{};
  Nanos debt_{};
  // Properties of the current run, used to distinguish real-time bots from bots that send ahead.
  Nanos run_began_{};
  Nanos most_in_hand_{};
  bool was_live_ = false;
  /// While the line carries other audio: the start time, and whether the bot was speaking in real time then.
  Nanos waits_since_ = kNever;
  bool waits_live_ = false;
};

}  // namespace carillon
