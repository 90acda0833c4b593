#include "core/leg/relay_state.hpp"

#include <algorithm>

#include "core/dsp/fade.hpp"

namespace carillon {

namespace {
/// Time without packets after which this leg generates silence.
constexpr Nanos kPatience = 200 * kMillisecond;
/// Limit during DTX: an Opus sender with DTX sends every 400 ms (RFC 7587 §3.1.3).
constexpr Nanos kPatienceInDtx = 600 * kMillisecond;
/// Time for which audio is decoded after a sender changes its coding or packet length.
constexpr Nanos kUntilSettled = 2 * kSecond;
/// Maximum age of relayed audio that is crossfaded with the next audio.
constexpr Nanos kStillHeard = 60 * kMillisecond;
}  // namespace

void RelayState::relayed(Nanos arrival, bool in_dtx) {
  active_ = true;
  far_ = Far::unused;
  relayed_at_ = arrival;
  until_ = arrival + (in_dtx ? kPatienceInDtx : kPatience);
}

void RelayState::relayed_comfort(Nanos arrival, Nanos pause) {
  relayed(arrival, true);
  until_ = std::max(until_, arrival + pause);
}

void RelayState::refused(Nanos arrival) {
  stop();
  not_before_ = arrival + kUntilSettled;
}

bool RelayState::end(Nanos now) {
  active_ = ends_ = cut_ = false;
  return now - relayed_at_ < kStillHeard;
}

void RelayState::join_on(Frame& sent) {
  const size_t from = (kJoinFrames - join_left_) * sent.size();
  const std::span<const Sample> before = std::span(join_).subspan(from, sent.size());
  --join_left_;
  if (far_ == Far::missing && join_left_ > 0) {
    sent = AudioView{sent.rate(), before};
    return;
  }
  crossfade(before, sent.samples());
  join_left_ = 0;
}

}  // namespace carillon
