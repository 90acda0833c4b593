#include "core/stream/stream_playback.hpp"

#include <algorithm>
#include <cstdlib>

namespace carillon {

namespace {
/// Longest pause that counts as jitter within an utterance.
constexpr Nanos kLongestGap = 100 * kMillisecond;
/// Thresholds for real-time bots: after a run of kLiveRun with at most kLiveInHand queued, a longer pause
/// counts as a stall.
constexpr Nanos kLiveRun = 5 * kSecond;
constexpr Nanos kLiveInHand = 200 * kMillisecond;
constexpr Nanos kCalm = 10 * kSecond;
/// Mean magnitude below which a frame may be skipped (about -50 dBFS).
constexpr int32_t kQuietMean = 100;

bool quiet(const Frame& frame) {
  int32_t sum = 0;
  for (const Sample sample : frame) sum += std::abs(int32_t{sample});
  return sum / static_cast<int32_t>(frame.size()) < kQuietMean;
}
}  // namespace

void StreamPlayback::judge_gap(Nanos now) {
  if (dry_since_ < Nanos{}) return;
  const Nanos gap = now - dry_since_;
  gap_is_jitter_ = gap <= kLongestGap;
  if (gap_is_jitter_) {
    // Add one frame, because this is evaluated before a frame is taken.
    cushion_ = std::clamp(gap + kFrameTime, cushion_, kMaxCushion);
    calm_since_ = now;
  }
  gap_is_debt_ = gap_is_jitter_ || (was_live_ && gap <= kMaxDebt);
}

/// Returns true while a restart waits for the cushion to fill, at most as long as the cushion.
bool StreamPlayback::hold_back(Nanos now) {
  if (running_) return false;
  const Nanos waiting = in_hand();
  if (waiting == Nanos{}) return false;
  if (waiting_since_ < Nanos{}) {
    waiting_since_ = now;
    judge_gap(now);
  }
  return waiting < cushion_ && now - waiting_since_ < cushion_;
}

StreamPlayback::Filled StreamPlayback::fill(Frame& out, Played& played) {
  Filled filled;
  while (true) {
    const PlaybackQueue::Taken taken = queue_->read(out.samples().subspan(filled.samples));
    filled.samples += taken.samples;
    filled.cleared = filled.cleared || taken.cleared;
    const size_t before = played.checkpoint_count;
    take_reached(played);
    const bool progress =
        played.checkpoint_count > before && played.checkpoint_count < kMaxCheckpointsPerFrame;
    if (filled.samples == out.size() || !progress) break;
  }
  std::ranges::fill(out.samples().subspan(filled.samples), Sample{0});
  return filled;
}

void StreamPlayback::take_reached(Played& played) {
  while (played.checkpoint_count < kMaxCheckpointsPerFrame) {
    const PlayPosition at = queue_->position();
    const std::optional<uint32_t> id = queue_->reached();
    if (!id) return;
    played.checkpoints[played.checkpoint_count++] = {*id, at};
  }
}

void StreamPlayback::began(Nanos now) {
  if (gap_is_debt_ && dry_since_ >= Nanos{}) {
    debt_ = std::max(debt_, std::min(kMaxDebt, debt_ + now - dry_since_));
  }
  if (!gap_is_debt_) debt_ = {};  // a new utterance starts without delay debt
  // Jitter does not end a run.
  if (!gap_is_jitter_) {
    run_began_ = now;
    most_in_hand_ = {};
  }
  gap_is_debt_ = gap_is_jitter_ = false;
  running_ = true;
  dry_since_ = kNever;
  calm_since_ = std::max(calm_since_, now);
}

/// Returns true if the current run is real-time speech.
bool StreamPlayback::speaks_live(Nanos now) const {
  return now - run_began_ >= kLiveRun && most_in_hand_ <= kLiveInHand + debt_;
}

void StreamPlayback::ran_dry(Nanos now, bool cleared) {
  if (running_) {
    dry_since_ = cleared ? kNever : now;  // a clear is not jitter
    was_live_ = !cleared && speaks_live(now);
  }
  running_ = false;
  waiting_since_ = kNever;
}

/// Skips this frame if it is silent and enough audio follows.
void StreamPlayback::pay_back(Frame& out, Played& played) {
  // After the replacement frame is taken, the cushion must still have the length it had before this frame.
  if (debt_ < kFrameTime || in_hand() < std::max(cushion_, kFrameTime) || !quiet(out)) return;
  debt_ -= kFrameTime;
  most_in_hand_ -= std::min(most_in_hand_, kFrameTime);
  fill(out, played);
}

/// Discards audio after an interruption. Returns true if the frame carries none, except for a fade-out.
bool StreamPlayback::hush(Nanos now, std::span<Sample> out, Played& played) {
  if (interrupts_) {
    interrupts_ = false;
    if (in_hand() == Nanos{}) return false;
    hushed_ = true;
    played.interrupted = queue_->drop(out);
    played.audible = played.interrupted->samples > 0;
    std::ranges::fill(out.subspan(played.interrupted->samples), Sample{0});
    ran_dry(now, true);
    return true;
  }
  if (!hushed_) return false;
  size_t before = 0;
  do {
    before = played.checkpoint_count;
    if (queue_->skip()) {
      hushed_ = false;
      return false;
    }
    take_reached(played);
  } while (played.checkpoint_count > before && played.checkpoint_count < kMaxCheckpointsPerFrame);
  std::ranges::fill(out, Sample{0});
  return true;
}

/// Adds the time of skipped frames to the delay debt of a real-time bot.
void StreamPlayback::visited(Nanos now) {
  const Nanos skipped = visited_at_ < Nanos{} ? Nanos{} : now - visited_at_ - kFrameTime;
  if (skipped >= kFrameTime && running_ && speaks_live(visited_at_)) {
    debt_ = std::min(kMaxDebt, debt_ + skipped);
  }
  visited_at_ = now;
}

StreamPlayback::Played StreamPlayback::wait(Nanos now) {
  visited_at_ = now;
  if (waits_since_ < Nanos{}) {
    waits_since_ = now;
    waits_live_ = running_ && speaks_live(now);
  }
  Played played;
  if (hush(now, {}, played)) {
    waits_live_ = false;
    return played;
  }
  // A clear takes effect without a fade-out, because the audio is not being played.
  if (queue_->read({}).cleared) {
    ran_dry(now, true);
    waits_live_ = false;
  }
  take_reached(played);
  return played;
}

/// Adds the waiting time of a real-time bot to its delay debt.
void StreamPlayback::wait_is_over(Nanos now) {
  if (waits_since_ < Nanos{}) return;
  if (waits_live_) debt_ += std::min(now - waits_since_, in_hand());
  waits_since_ = kNever;
}

StreamPlayback::Played StreamPlayback::next(Nanos now, Frame& out) {
  Played played;
  out.set_rate(rate());
  visited(now);
  wait_is_over(now);
  if (hush(now, out.samples(), played)) return played;
  if (hold_back(now)) {
    out.fill(0);
    return played;
  }
  const Filled filled = fill(out, played);
  played.audible = filled.samples > 0;
  if (filled.samples < out.size()) {
    // If playback was idle, the last piece of an utterance is its own run: it may be a frame of jitter.
    if (!running_ && filled.samples > 0) began(now);
    ran_dry(now, filled.cleared);
    return played;
  }
  if (!running_) began(now);
  waiting_since_ = kNever;
  most_in_hand_ = std::max(most_in_hand_, in_hand());
  if (cushion_ > Nanos{} && now - calm_since_ > kCalm) {
    cushion_ = std::max(Nanos{}, cushion_ - kFrameTime);
    calm_since_ = now;
  }
  pay_back(out, played);
  return played;
}

}  // namespace carillon
