#include "core/stream/stream_playback.hpp"

#include <algorithm>
#include <cstdlib>

namespace carillon {

namespace {
/// A pause longer than this lies between two utterances; a shorter one is jitter inside one.
constexpr Nanos kLongestGap = 100 * kMillisecond;
/// After a run of such length with so little in hand, a longer pause is a stall: the bot speaks in real time.
constexpr Nanos kLiveRun = 5 * kSecond;
constexpr Nanos kLiveInHand = 200 * kMillisecond;
constexpr Nanos kCalm = 10 * kSecond;
/// Mean magnitude under which a frame may be left out (about -50 dBFS).
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
  if (gap <= kLongestGap) {
    // Counted before a frame is taken: one frame more than the hole is what would have bridged it.
    cushion_ = std::clamp(gap + kFrameTime, cushion_, kMaxCushion);
    calm_since_ = now;
  }
  gap_is_debt_ = gap <= kLongestGap || (was_live_ && gap <= kMaxDebt);
}

/// True while a restart waits for the cushion to fill; never longer than the cushion itself.
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
    const std::optional<uint32_t> id = queue_->reached();
    if (!id) return;
    played.checkpoints[played.checkpoint_count++] = *id;
  }
}

void StreamPlayback::began(Nanos now) {
  if (gap_is_debt_ && dry_since_ >= Nanos{}) {
    debt_ = std::max(debt_, std::min(kMaxDebt, debt_ + now - dry_since_));
  }
  if (!gap_is_debt_) debt_ = {};  // a new utterance owes nothing
  gap_is_debt_ = false;
  running_ = true;
  dry_since_ = kNever;
  run_began_ = now;
  most_in_hand_ = {};
  calm_since_ = std::max(calm_since_, now);
}

/// Of a run in hand.
bool StreamPlayback::speaks_live(Nanos now) const {
  return now - run_began_ >= kLiveRun && most_in_hand_ <= kLiveInHand + debt_;
}

void StreamPlayback::ran_dry(Nanos now, bool cleared) {
  if (running_) {
    dry_since_ = cleared ? kNever : now;  // a cut is no jitter
    was_live_ = !cleared && speaks_live(now);
  }
  running_ = false;
  waiting_since_ = kNever;
}

/// Leaves out this frame, when it is silent and what follows is there anyway.
void StreamPlayback::pay_back(Frame& out, Played& played) {
  // With the frame that takes its place, the cushion is still as long as it was before this one was taken.
  if (debt_ < kFrameTime || in_hand() < std::max(cushion_, kFrameTime) || !quiet(out)) return;
  debt_ -= kFrameTime;
  fill(out, played);
}

StreamPlayback::Played StreamPlayback::wait(Nanos now) {
  if (waits_since_ < Nanos{}) {
    waits_since_ = now;
    waits_live_ = running_ && speaks_live(now);
  }
  Played played;
  // A clear takes effect without a frame to fade in: nothing of what it cuts is being heard.
  if (queue_->read({}).cleared) {
    ran_dry(now, true);
    waits_live_ = false;
  }
  take_reached(played);
  return played;
}

/// What a bot that speaks in real time has said meanwhile is late by that much.
void StreamPlayback::wait_is_over(Nanos now) {
  if (waits_since_ < Nanos{}) return;
  if (waits_live_) debt_ += std::min(now - waits_since_, in_hand());
  waits_since_ = kNever;
}

StreamPlayback::Played StreamPlayback::next(Nanos now, Frame& out) {
  Played played;
  out.set_rate(rate());
  wait_is_over(now);
  if (hold_back(now)) {
    out.fill(0);
    return played;
  }
  const Filled filled = fill(out, played);
  played.audible = filled.samples > 0;
  if (filled.samples < out.size()) {
    // The last piece of an utterance is a run of its own when nothing was running: it may be one frame of
    // jitter.
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
