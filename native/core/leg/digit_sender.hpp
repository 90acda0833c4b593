// Sends a string of digits to the peer as RTP events or as tones.
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
  /// Digit to send. '\0': a pause of `off_frames`.
  char digit = '\0';
  uint16_t on_frames = 0;
  uint16_t off_frames = 0;
};

struct DigitJob {
  JobHandle handle;
  bool inband = false;
  std::vector<DigitStep> steps;
  /// Generator of the current step's tone.
  ToneGenerator tone{};
};

/// RTP parameters for sending events.
struct EventLine {
  /// True if telephone-event was negotiated.
  bool possible = false;
  RtpTimestamp timestamp;
  /// Duration of 20 ms on the event clock.
  RtpTicks frame;
};

class DigitSender {
 public:
  static constexpr size_t kMaxJobs = 8;

  /// Adds a job. Returns false and leaves the job unchanged if kMaxJobs are waiting.
  bool add(std::unique_ptr<DigitJob>& job);
  [[nodiscard]] bool busy() const { return count_ > 0; }

  /// Returns true if next() will replace audio with an event or a tone.
  [[nodiscard]] bool takes_frame(bool events_possible) const;

  struct Step {
    /// RTP event to send instead of audio.
    std::optional<TelephoneEventSender::Packet> event;
    /// True if `audio` was replaced by a tone.
    bool tone = false;
    /// Job that ended with this frame; the caller disposes of it.
    std::unique_ptr<DigitJob> done;
  };
  /// Processes the next 20 ms. Call while busy() is true.
  Step next(const EventLine& line, Frame& audio);

 private:
  void begin_step(const EventLine& line);

  size_t count_ = 0;
  std::array<std::unique_ptr<DigitJob>, kMaxJobs> jobs_;
  size_t step_ = 0;
  uint32_t frame_ = 0;  // frame index in the current step
  bool as_event_ = false;
  TelephoneEventSender event_;
};

}  // namespace carillon
