// A string of digits on its way to the peer, as RTP events or as tones.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/handles.hpp"
#include "core/dsp/tone.hpp"
#include "core/leg/send_path.hpp"
#include "core/rtp/telephone_event.hpp"

namespace carillon {

struct DigitStep {
  /// '\0': a pause of `off_frames`.
  char digit = '\0';
  uint16_t on_frames = 0;
  uint16_t off_frames = 0;
};

struct DigitJob {
  JobHandle handle;
  bool inband = false;
  std::vector<DigitStep> steps;
  /// Of the step that sounds now.
  ToneGenerator tone{};
};

/// What events are sent on.
struct EventLine {
  /// telephone-event was negotiated.
  bool possible = false;
  RtpTimestamp timestamp;
  /// 20 ms on the events' clock.
  RtpTicks frame;
};

class DigitSender {
 public:
  static constexpr size_t kMaxJobs = 8;

  /// False, and the job is untouched, when kMaxJobs are waiting.
  bool add(std::unique_ptr<DigitJob>& job);
  [[nodiscard]] bool busy() const { return count_ > 0; }

  /// Whether next() will send an event, or write a tone, in the place of audio.
  [[nodiscard]] bool takes_frame(bool events_possible) const;

  struct Step {
    /// RTP event to send instead of audio.
    std::optional<TelephoneEventSender::Packet> event;
    /// `audio` was replaced by a tone.
    bool tone = false;
    /// The job that ended with this frame; hand it back for disposal.
    std::unique_ptr<DigitJob> done;
  };
  /// The next 20 ms while busy().
  Step next(const EventLine& line, Frame& audio);

 private:
  void begin_step(const EventLine& line);

  size_t count_ = 0;
  std::array<std::unique_ptr<DigitJob>, kMaxJobs> jobs_;
  size_t step_ = 0;
  uint32_t frame_ = 0;  // inside the step
  bool as_event_ = false;
  TelephoneEventSender event_;
};

}  // namespace carillon
