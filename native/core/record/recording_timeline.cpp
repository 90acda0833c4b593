#include "core/record/recording_timeline.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// A visit may be late by this much without a missed slot, because late visits are made up.
constexpr Nanos kTolerance = 4 * kFrameTime;
}  // namespace

RecordingTimeline::RecordingTimeline(SampleRate rate, bool received, bool sent)
    : rate_(rate), frame_(frame_samples(rate)) {
  if (received) received_ = std::make_unique<PacketTrack>(rate);
  if (sent) {
    far_end_ = std::make_unique<PacketTrack>(rate);
    own_.resize(kSlots * frame_);
  }
  sides_.received.set_rate(rate);
  sides_.sent.set_rate(rate);
}

void RecordingTimeline::take(Side side, const ReceivedPacket& packet) {
  PacketTrack* const track = side == Side::received ? received_.get() : far_end_.get();
  if (track == nullptr) return;
  // After a stall, packets of a longer time than the store holds arrive before the slots are read.
  if (started_) track->read_ahead(packet.arrival - PacketTrack::kDelay - kTolerance);
  track->take(packet);
}

bool RecordingTimeline::far_end_heard() const {
  return count_ > 0 && slots_[(first_ + count_ - 1) % kSlots].far_end_heard;
}

int RecordingTimeline::missed(Nanos now) const {
  if (!started_ || now - next_slot_ < kTolerance) return 0;
  return static_cast<int>(std::min<int64_t>((now - next_slot_) / kFrameTime, kMaxMissed));
}

void RecordingTimeline::add(AudioView own, bool far_end_heard, Nanos now) {
  if (!started_) {
    started_ = true;
    next_slot_ = now;
    if (received_) received_->start(now);
    if (far_end_) far_end_->start(now);
  }
  next_slot_ += kFrameTime;
  const size_t at = (first_ + count_) % kSlots;
  ++count_;
  const bool silent = !far_end_ || own.samples.empty();
  slots_[at] = {silent, far_end_ != nullptr && far_end_heard};
  if (silent) return;
  Frame scratch(rate_);
  const AudioView audio = converter_.convert(own, rate_, scratch);
  std::copy(audio.begin(), audio.end(), own_.begin() + static_cast<std::ptrdiff_t>(at * frame_));
}

const RecordingTimeline::Sides* RecordingTimeline::next(bool ends) {
  if (count_ == 0 || (!ends && count_ <= kWaiting)) return nullptr;
  const Slot& slot = slots_[first_];
  if (received_) {
    received_->read(sides_.received.samples());
  } else {
    sides_.received.fill(0);
  }
  if (far_end_) far_end_->read(sides_.sent.samples());
  if (!slot.far_end_heard) sides_.sent.fill(0);
  if (!slot.silent) {
    const auto own = std::span(own_).subspan(first_ * frame_, frame_);
    for (size_t i = 0; i < frame_; ++i) {
      sides_.sent[i] = saturate(int32_t{sides_.sent[i]} + int32_t{own[i]});
    }
  }
  first_ = (first_ + 1) % kSlots;
  --count_;
  return &sides_;
}

}  // namespace carillon
