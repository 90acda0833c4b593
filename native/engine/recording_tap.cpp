#include "engine/recording_tap.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// Frames after a pause in which the mask can find a tone. It stays while a tone sounds.
constexpr int kFramesAfterPause = 10;
}  // namespace

void ConcludingRecordings::add(TapHandle handle, RecordingEnd reason, uint32_t duration_ms,
                               std::shared_ptr<RecordingSink> sink) {
  waiting_.push_back({handle, reason, duration_ms, std::move(sink)});
}

void ConcludingRecordings::report(Events& events) {
  for (Waiting& item : waiting_) {
    const RecordingSink::State state = item.sink->state();
    if (state == RecordingSink::State::writing) continue;
    const bool failed = state == RecordingSink::State::failed;
    events.recording_ended(item.handle, failed ? RecordingEnd::failed : item.reason, item.duration_ms);
    // The control thread also holds the sink until it has processed the end, so no memory is freed here.
    item.sink.reset();
  }
  std::erase_if(waiting_, [](const Waiting& item) { return item.sink == nullptr; });
}

RecordingTap::RecordingTap(TapHandle handle, const Recorder::Options& options,
                           std::shared_ptr<RecordingSink> sink, bool suppress_digits, Source source)
    : LegTap(handle),
      rate_(sink->rate()),
      recorder_(options, rate_),
      needs_frames_(source == Source::frames || options.silence_end_ms > 0),
      suppress_digits_(suppress_digits),
      sink_(std::move(sink)) {
  using Side = Recorder::Side;
  if (suppress_digits) mask_.emplace();
  if (source == Source::packets) {
    timeline_ = std::make_unique<RecordingTimeline>(rate_, options.side != Side::sent,
                                                    options.side != Side::received);
    if (suppress_digits) timeline_->mask_keys();
  }
}

void RecordingTap::conclude(RecordingEnd reason) {
  if (done_) return;
  done_ = true;
  if (!paused_) record_held(false);
  sink_->finish();
  concluding_->add(handle(), reason, static_cast<uint32_t>(recorder_.duration_ms()), sink_);
}

void RecordingTap::record_unmasked(AudioView received, AudioView sent) {
  const std::span<const Sample> samples = recorder_.take(received.samples, sent.samples);
  if (!samples.empty()) sink_->write(samples);
}

void RecordingTap::record(AudioView received, AudioView sent) {
  if (!mask_) {
    record_unmasked(received, sent);
  } else if (const DigitMask::Sides* const ready = mask_->push(received, sent)) {
    record_unmasked(ready->received, ready->sent);
  }
  if (!mask_ || suppress_digits_ || ++since_pause_ < kFramesAfterPause || mask_->doubts()) return;
  empty_mask();
  mask_.reset();
}

void RecordingTap::empty_mask() {
  while (const DigitMask::Sides* const held = mask_->pop()) record_unmasked(held->received, held->sent);
}

void RecordingTap::record_held(bool pauses) {
  if (timeline_) {
    while (const RecordingTimeline::Sides* const sides = timeline_->next(true)) {
      record(sides->received, sides->sent);
    }
    timeline_->restart();
  }
  if (!mask_) return;
  if (pauses) mask_->interrupt();
  empty_mask();
}

void RecordingTap::pause(bool paused) {
  if (done_ || paused == paused_) return;
  if (paused) {
    record_held(true);
  } else if (!suppress_digits_) {
    // The last key of an input often still sounds when the recording resumes.
    mask_.emplace();
    mask_->interrupt();
    since_pause_ = 0;
  }
  paused_ = paused;
  recorder_.pause(paused);
}

void RecordingTap::packet(const ReceivedPacket& packet) {
  if (timeline_ && !done_) timeline_->take(RecordingTimeline::Side::received, packet);
}

void RecordingTap::far_packet(const ReceivedPacket& packet) {
  if (timeline_ && !done_) timeline_->take(RecordingTimeline::Side::far_end, packet);
}

void RecordingTap::record_slot(AudioView own, bool far_end_heard, Nanos now) {
  timeline_->add(own, far_end_heard, now);
  while (const RecordingTimeline::Sides* const sides = timeline_->next()) {
    record(sides->received, sides->sent);
  }
}

void RecordingTap::frame(const TapFrame& audio, Nanos now, Events& /*events*/) {
  if (done_) return;
  if (sink_->state() == RecordingSink::State::failed) {
    conclude(RecordingEnd::failed);
    return;
  }
  if (paused_) return;
  if (timeline_) {
    const AudioView nothing{rate_, {}};
    for (int missed = timeline_->missed(now); missed > 0; --missed) {
      // Packets that waited during a stall are recorded although they are sent late.
      record_slot(nothing, timeline_->far_end_heard() && !sent_left_out_, now);
      recorder_.hear(nothing);
    }
    record_slot(sent_left_out_ ? nothing : audio.own, audio.far_end_heard && !sent_left_out_, now);
  } else {
    Frame heard_scratch(rate_);
    Frame said_scratch(rate_);
    record(received_.convert(audio.received, rate_, heard_scratch),
           sent_.convert(audio.sent, rate_, said_scratch));
  }
  recorder_.hear(audio.received);
  if (const auto end = recorder_.ended()) {
    conclude(*end == Recorder::End::silence ? RecordingEnd::silence : RecordingEnd::max_length);
  }
}

void RecordingTap::leg_ended(Events& /*events*/) { conclude(RecordingEnd::leg_ended); }

}  // namespace carillon
