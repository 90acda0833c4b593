// Reads the audio of a leg's peer for its listeners, at the sample rate that they need.
#include <algorithm>

#include "core/leg/leg.hpp"

namespace carillon {

namespace {
/// Visits after which a listener gets the full bandwidth even if the speaker makes no pause.
constexpr uint32_t kWiderAtLast = 50;
}  // namespace

/// Returns true if any listener or detector needs the peer's audio.
bool Leg::listened_to() const {
  return far_end_ == nullptr || far_end_->listens() || tones_.listens() || !streams_.empty() ||
         taps_need_frames_;
}

/// Returns the sample rate that listeners need. Relayed audio is continued at the full rate.
SampleRate Leg::heard_rate() const {
  const bool only_far_end = far_end_ != nullptr && !taps_need_frames_ && (!relays() || transcodes_);
  return only_far_end ? std::min(far_end_->hears_at(), full_rate_) : full_rate_;
}

/// Reduces decoding to the bandwidth that listeners need. A change waits for a pause, because it adds or
/// removes the delay of a listener's resampler.
void Leg::follow_listeners() {
  const SampleRate wanted = heard_rate();
  const bool waits = wanted != rate() && !is_pause(received().samples);
  visits_too_narrow_ = waits && wanted > rate() ? visits_too_narrow_ + 1 : 0;
  if (wanted == rate() || (waits && visits_too_narrow_ < kWiderAtLast)) return;
  visits_too_narrow_ = 0;
  receive_.audio().give_out_at(wanted);
}

/// Returns the sample rate of the composed audio. Players and bots may use the full bandwidth of the codec.
SampleRate Leg::needed_line_rate() const {
  return players_.empty() && streams_.empty() ? std::min(content_, full_rate_) : full_rate_;
}

/// Reads the next received frame.
void Leg::hear(Nanos now) {
  decodes_ = listened_to();
  concealed_ = false;
  if (decodes_) {
    follow_listeners();
    const SampleCount before = receive_.playout().concealed;
    receive_.pop(now, std::span(received_).first(frame_samples(rate())));
    concealed_ = receive_.playout().concealed != before;
  } else {
    receive_.leave_out();
    receive_.audio().give_out_at(heard_rate());
  }
}

void Leg::receive_frame(Nanos now, Events& events) {
  if (!heard_ahead_) hear(now);
  heard_ahead_ = false;
  if (digits_.busy()) tones_.sends_digits(now);
  if (tones_.listens()) {
    if (const auto digit = tones_.feed(received(), concealed_, now)) events.dtmf(name_, *digit, true, now);
  }
  for (const auto& stream : streams_.all()) {
    stream->pump(now, receive_.store(), receive_.delays(), events);
  }
}

}  // namespace carillon
