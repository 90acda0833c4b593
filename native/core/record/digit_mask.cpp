#include "core/record/digit_mask.hpp"

namespace carillon {

namespace {
void silence(DigitMask::Sides& sides) noexcept {
  sides.received.fill(0);
  sides.sent.fill(0);
}
}  // namespace

const DigitMask::Sides* DigitMask::push(AudioView received, AudioView sent) noexcept {
  slots_[next_].received = received;
  slots_[next_].sent = sent;
  next_ = (next_ + 1) % kSlots;
  ++count_;
  judge(received_, &Sides::received);
  judge(sent_, &Sides::sent);
  if (doubtful_ > 0) {
    --doubtful_;
    silence(held(0));
  }
  return count_ == kSlots ? pop() : nullptr;
}

const DigitMask::Sides* DigitMask::pop() noexcept {
  if (count_ == 0) return nullptr;
  --count_;
  return &held(count_);
}

void DigitMask::interrupt() noexcept {
  for (size_t age = 0; age < count_; ++age) silence(held(age));
  doubtful_ = kDoubtfulFrames;
  // Audio after the pause does not continue this one.
  received_.reset();
  sent_.reset();
}

void DigitMask::judge(DtmfDetector& detector, Frame Sides::*side) noexcept {
  // A tone detected earlier may end within this frame, so silence this frame too.
  const bool sounded = detector.sounding().has_value();
  const bool began = detector.feed(held(0).*side).has_value();
  const size_t frames = began ? count_ : sounded ? 1 : 0;
  for (size_t age = 0; age < frames; ++age) (held(age).*side).fill(0);
}

}  // namespace carillon
