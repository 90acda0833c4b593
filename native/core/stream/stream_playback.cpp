#include "core/stream/stream_playback.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// A pause longer than this lies between two utterances; a shorter one is jitter inside one.
constexpr Nanos kLongestGap = 100 * kMillisecond;
constexpr Nanos kCalm = 10 * kSecond;
}  // namespace

void StreamPlayback::note_gap(Nanos now) {
  if (dry_since_ < 0) return;
  const Nanos gap = now - dry_since_;
  dry_since_ = -1;
  if (gap > kLongestGap) return;
  cushion_ = std::min(kMaxCushion, std::max(cushion_, gap + kFrameTime));
  calm_since_ = now;
}

/// True while a restart waits for the cushion to fill; never longer than the cushion itself.
bool StreamPlayback::hold_back(Nanos now) {
  if (running_) return false;
  const size_t available = queue_->available();
  if (available == 0) return false;
  if (waiting_since_ < 0) {
    waiting_since_ = now;
    note_gap(now);
  }
  const Nanos in_hand = static_cast<Nanos>(available) * kSampleTime;
  return in_hand < cushion_ && now - waiting_since_ < cushion_;
}

StreamPlayback::Played StreamPlayback::next(Nanos now, Frame& out) {
  Played played;
  if (hold_back(now)) {
    out.fill(0);
    return played;
  }
  size_t filled = 0;
  bool cleared = false;
  while (true) {
    const PlaybackQueue::Taken taken = queue_->read(std::span(out).subspan(filled));
    filled += taken.samples;
    cleared = cleared || taken.cleared;
    const size_t before = played.checkpoint_count;
    while (played.checkpoint_count < kMaxCheckpointsPerFrame) {
      const std::optional<uint32_t> id = queue_->reached();
      if (!id) break;
      played.checkpoints[played.checkpoint_count++] = *id;
    }
    const bool progress = played.checkpoint_count > before && played.checkpoint_count < kMaxCheckpointsPerFrame;
    if (filled == out.size() || !progress) break;
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(filled), out.end(), Sample{0});
  played.audible = filled > 0;

  if (filled == out.size()) {
    if (!running_) calm_since_ = std::max(calm_since_, now);
    running_ = true;
    waiting_since_ = -1;
    if (cushion_ > 0 && now - calm_since_ > kCalm) {
      cushion_ = std::max<Nanos>(0, cushion_ - kFrameTime);
      calm_since_ = now;
    }
  } else {
    if (running_ || filled > 0) dry_since_ = cleared ? -1 : now;  // a cut is no jitter
    running_ = false;
    waiting_since_ = -1;
  }
  return played;
}

}  // namespace carillon
