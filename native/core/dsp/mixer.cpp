#include "core/dsp/mixer.hpp"

#include <algorithm>

namespace carillon {
namespace {

// Smooths the holder's level over about 100 ms, because syllables vary faster than speakers change.
constexpr double kHolderSmoothing = 0.2;

}  // namespace

void Mixer::add(std::span<const Sample> spoken) noexcept {
  const size_t count = std::min(spoken.size(), frame_samples(rate_));
  for (size_t i = 0; i < count; ++i) sum_[i] += spoken[i];
}

void Mixer::remove(std::span<const Sample> spoken) noexcept {
  const size_t count = std::min(spoken.size(), frame_samples(rate_));
  for (size_t i = 0; i < count; ++i) sum_[i] -= spoken[i];
}

void Mixer::mix_without(std::span<const Sample> own, Limiter& limiter, Frame& out) const noexcept {
  out.set_rate(rate_);
  const size_t count = out.size();
  const size_t spoken = std::min(own.size(), count);
  std::array<int32_t, kMaxFrameSamples> rest;
  for (size_t i = 0; i < spoken; ++i) rest[i] = sum_[i] - own[i];
  std::copy_n(sum_.begin() + static_cast<std::ptrdiff_t>(spoken), count - spoken,
              rest.begin() + static_cast<std::ptrdiff_t>(spoken));
  limiter.apply(std::span<const int32_t>(rest).first(count), out);
}

void FloorDetector::add(Member member, bool speaking, double dbov) noexcept {
  if (member == holder_) {
    holder_spoke_ = speaking;
    if (speaking) holder_dbov_ += kHolderSmoothing * (dbov - holder_dbov_);
    return;
  }
  if (speaking && (!loudest_ || dbov > loudest_->dbov)) loudest_ = Voice{member, dbov};
}

bool FloorDetector::decide() noexcept {
  holder_silent_frames_ = holder_spoke_ ? 0 : holder_silent_frames_ + 1;
  const bool holder_busy = holder_ && holder_spoke_;
  const bool challenges = loudest_ && (!holder_busy || loudest_->dbov >= holder_dbov_ + kLouderDb);
  if (challenges) {
    challenger_frames_ = challenger_ == loudest_->member ? challenger_frames_ + 1 : 1;
    challenger_ = loudest_->member;
    if (challenger_frames_ >= (holder_ ? kTakeOverFrames : kClaimFrames)) {
      holder_dbov_ = loudest_->dbov;
      return give_to(challenger_);
    }
  } else {
    challenger_.reset();
    challenger_frames_ = 0;
  }
  if (holder_ && holder_silent_frames_ >= kReleaseFrames) return give_to(std::nullopt);
  return false;
}

bool FloorDetector::forget(Member member) noexcept {
  if (challenger_ == member) challenger_.reset();
  return holder_ == member && give_to(std::nullopt);
}

bool FloorDetector::give_to(std::optional<Member> member) noexcept {
  holder_ = member;
  holder_silent_frames_ = 0;
  challenger_.reset();
  challenger_frames_ = 0;
  return true;
}

}  // namespace carillon
