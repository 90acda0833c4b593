#include "core/stream/live_reader.hpp"

#include "core/jitter/ordered_read.hpp"

namespace carillon {

void LiveReader::take(const PayloadStore& store, Frame& out) {
  read_in_order(store, next_, *codec_, out);
  next_ += kFrameSamples;
}

bool LiveReader::next_from_store(Nanos now, const PayloadStore& store, const DelayEstimator& delays,
                                 Frame& out) {
  const auto frame = static_cast<int64_t>(kFrameSamples);
  if (next_ + frame <= store.end()) {
    if (store.complete(next_, kFrameSamples)) {
      gap_since_ = -1;
      take(store, out);
      return true;
    }
    // Something later is here: the gap's clock runs once for all the frames it spans.
    if (gap_since_ < 0) gap_since_ = now;
    if (now - gap_since_ < kGapWait) return false;
    take(store, out);
    return true;
  }
  const Nanos overdue = now - (delays.base() + next_ * kSampleTime);
  if (overdue < kFrameTime + kSilenceAfter) return false;
  if (overdue > kTimeJumped) {
    next_ += overdue / kFrameTime * frame;
    ++jumps_;
    return false;
  }
  take(store, out);
  return true;
}

bool LiveReader::next(Nanos now, const PayloadStore& store, const DelayEstimator& delays, Frame& out) {
  const bool overtaken =
      anchored_ && store.end() - next_ > PayloadStore::kCapacity;  // nobody read for 512 ms
  if (anchored_ && (generation_ != store.generation() || overtaken)) {
    anchored_ = false;
    next_due_ = now + kFrameTime;
  }
  if (!anchored_ && !store.empty()) {
    anchored_ = true;
    generation_ = store.generation();
    next_ = store.end() > static_cast<int64_t>(kFrameSamples)
                ? store.end() - static_cast<int64_t>(kFrameSamples)
                : store.end();
    gap_since_ = -1;
  }
  if (anchored_) return next_from_store(now, store, delays, out);
  if (now < next_due_) return false;
  if (now - next_due_ > kTimeJumped) {
    next_due_ = now;
    ++jumps_;
  }
  next_due_ += kFrameTime;
  codec_->conceal(out, {});
  return true;
}

}  // namespace carillon
