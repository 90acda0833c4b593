#include "core/leg/digit_sender.hpp"

#include <algorithm>

#include "core/dsp/dtmf.hpp"

namespace carillon {

bool DigitSender::add(std::unique_ptr<DigitJob>& job) {
  if (count_ == kMaxJobs) return false;
  jobs_[count_++] = std::move(job);
  return true;
}

void DigitSender::begin_step(const EventLine& line) {
  DigitJob& job = *jobs_[0];
  const DigitStep& step = job.steps[step_];
  if (step.digit == '\0') return;
  as_event_ = line.possible && !job.inband;
  if (as_event_) {
    event_.start(step.digit, line.timestamp, line.frame, step.on_frames);
  } else if (const auto tone = dtmf_tone(step.digit, uint32_t{step.on_frames} * kFrameMs, 0)) {
    job.tone.start(*tone);
  }
}

bool DigitSender::takes_frame(bool events_possible) const {
  if (!busy() || step_ >= jobs_[0]->steps.size()) return false;
  if (jobs_[0]->steps[step_].digit == '\0') return false;
  const bool begins = frame_ == 0;
  const bool as_event = begins ? events_possible && !jobs_[0]->inband : as_event_;
  return !as_event || begins || (events_possible && event_.active());
}

DigitSender::Step DigitSender::next(const EventLine& line, Frame& audio) {
  Step out;
  DigitJob& job = *jobs_[0];
  if (step_ < job.steps.size()) {
    const DigitStep& step = job.steps[step_];
    if (frame_ == 0) begin_step(line);
    // A new negotiation during the digit may have removed the payload type of events.
    if (as_event_ && !line.possible) event_.stop();
    if (step.digit != '\0' && as_event_) {
      // The two repetitions of the event's end are sent during the pause after the digit.
      if (event_.active()) out.event = event_.next();
    } else if (step.digit != '\0') {
      job.tone.render(audio.rate(), audio.samples());
      out.tone = true;
    }
    ++frame_;
    if (frame_ >= uint32_t{step.on_frames} + step.off_frames && !event_.active()) {
      frame_ = 0;
      ++step_;
    }
  }
  if (step_ >= job.steps.size()) {
    out.done = std::move(jobs_[0]);
    std::move(jobs_.begin() + 1, jobs_.begin() + static_cast<std::ptrdiff_t>(count_), jobs_.begin());
    --count_;
    step_ = 0;
    frame_ = 0;
  }
  return out;
}

}  // namespace carillon
