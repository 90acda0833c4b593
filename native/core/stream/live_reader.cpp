#include "core/stream/live_reader.hpp"

#include "core/jitter/ordered_read.hpp"

namespace carillon {

void LiveReader::use(std::unique_ptr<AudioDecoder>& codec, Nanos now) {
  std::swap(codec_, codec);
  frame_ = codec_->rates().clock.in(kFrameTime);
  anchored_ = false;
  next_due_ = now + kFrameTime;
}

void LiveReader::take(const PayloadStore& store, Frame& out) {
  out.set_rate(codec_->rates().sample);
  read_in_order(store, next_, *codec_, out.samples());
  next_ += frame_;
}

bool LiveReader::next_from_store(Nanos now, const PayloadStore& store, const DelayEstimator& delays,
                                 Frame& out) {
  if (next_ + frame_ <= store.end()) {
    if (store.complete(next_, frame_)) {
      gap_since_ = kNever;
      take(store, out);
      return true;
    }
    // A later packet has arrived. One timeout covers all frames of the gap.
    if (gap_since_ < Nanos{}) gap_since_ = now;
    if (now - gap_since_ < kGapWait) return false;
    take(store, out);
    return true;
  }
  const Nanos overdue = now - delays.earliest(next_);
  if (overdue < kFrameTime + kSilenceAfter) return false;
  if (overdue > kTimeJumped) {
    next_ += frame_ * (overdue / kFrameTime);
    ++jumps_;
    return false;
  }
  take(store, out);
  return true;
}

bool LiveReader::next(Nanos now, const PayloadStore& store, const DelayEstimator& delays, Frame& out) {
  const bool overtaken = anchored_ && store.end() - next_ > store.capacity();  // not read for too long
  if (anchored_ && (generation_ != store.generation() || overtaken)) {
    anchored_ = false;
    next_due_ = now + kFrameTime;
  }
  if (!anchored_ && !store.empty()) {
    anchored_ = true;
    generation_ = store.generation();
    next_ = store.end().since_zero() > frame_ ? store.end() - frame_ : store.end();
    gap_since_ = kNever;
  }
  if (anchored_) return next_from_store(now, store, delays, out);
  if (now < next_due_) return false;
  if (now - next_due_ > kTimeJumped) {
    next_due_ = now;
    ++jumps_;
  }
  next_due_ += kFrameTime;
  out.set_rate(codec_->rates().sample);
  codec_->conceal(out.samples(), {});
  return true;
}

}  // namespace carillon
