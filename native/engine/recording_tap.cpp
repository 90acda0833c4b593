#include "engine/recording_tap.hpp"

#include <algorithm>

namespace carillon {

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

void RecordingTap::conclude(RecordingEnd reason) {
  if (done_) return;
  done_ = true;
  if (!paused_) record_held();
  sink_->finish();
  concluding_->add(handle(), reason, static_cast<uint32_t>(recorder_.duration_ms()), sink_);
}

void RecordingTap::record(AudioView received, AudioView sent) {
  const std::span<const Sample> samples = recorder_.take(received.samples, sent.samples);
  if (!samples.empty()) sink_->write(samples);
}

void RecordingTap::record_held() {
  if (!mask_) return;
  while (const DigitMask::Sides* const held = mask_->pop()) record(held->received, held->sent);
}

void RecordingTap::pause(bool paused) {
  if (done_ || paused == paused_) return;
  if (paused) record_held();
  paused_ = paused;
  recorder_.pause(paused);
}

void RecordingTap::frame(AudioView heard, AudioView said, Nanos /*now*/, Events& /*events*/) {
  if (done_) return;
  if (sink_->state() == RecordingSink::State::failed) {
    conclude(RecordingEnd::failed);
    return;
  }
  if (paused_) return;
  Frame heard_scratch(rate_);
  Frame said_scratch(rate_);
  const AudioView received = received_.convert(heard, rate_, heard_scratch);
  AudioView sent = sent_.convert(said, rate_, said_scratch);
  if (sent_left_out_) {
    said_scratch.fill(0);
    sent = said_scratch;
  }
  if (!mask_) {
    record(received, sent);
  } else if (const DigitMask::Sides* const ready = mask_->push(received, sent)) {
    record(ready->received, ready->sent);
  }
  if (const auto end = recorder_.ended()) {
    conclude(*end == Recorder::End::silence ? RecordingEnd::silence : RecordingEnd::max_length);
  }
}

void RecordingTap::leg_ended(Events& /*events*/) { conclude(RecordingEnd::leg_ended); }

}  // namespace carillon
