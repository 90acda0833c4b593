// Recording tap of a leg or a room: applies the recorder's rules and writes to the file.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/dsp/resampler.hpp"
#include "core/leg/tap.hpp"
#include "core/record/digit_mask.hpp"
#include "core/record/recorder.hpp"
#include "core/record/recording_timeline.hpp"
#include "io/recording_writer.hpp"

namespace carillon {

/// Recordings that have ended while their files are still being written. Each is reported when its file is
/// complete.
class ConcludingRecordings {
 public:
  static constexpr size_t kMax = RecordingWriter::kMaxRecordings;

  ConcludingRecordings() { waiting_.reserve(kMax); }

  void add(TapHandle handle, RecordingEnd reason, uint32_t duration_ms, std::shared_ptr<RecordingSink> sink);
  void report(Events& events);
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  struct Waiting {
    TapHandle handle;
    RecordingEnd reason;
    uint32_t duration_ms;
    std::shared_ptr<RecordingSink> sink;
  };
  std::vector<Waiting> waiting_;
};

/// Records the packets of a leg, or the frames of a room.
class RecordingTap final : public LegTap {
 public:
  enum class Source : uint8_t { packets, frames };

  RecordingTap(TapHandle handle, const Recorder::Options& options, std::shared_ptr<RecordingSink> sink,
               bool suppress_digits, Source source);

  /// Sets the list of its current media thread.
  void conclude_to(ConcludingRecordings& concluding) { concluding_ = &concluding; }

  void frame(const TapFrame& audio, Nanos now, Events& events) override;
  void packet(const ReceivedPacket& packet) override;
  void far_packet(const ReceivedPacket& packet) override;
  [[nodiscard]] bool needs_frames() const override { return needs_frames_; }
  void leg_ended(Events& events) override;

  void pause(bool paused);
  /// Records silence instead of the sent audio, until reset.
  void leave_out_sent(bool left_out) { sent_left_out_ = left_out; }
  void stop() { conclude(RecordingEnd::stopped); }

 private:
  void conclude(RecordingEnd reason);
  void record(AudioView received, AudioView sent);
  void record_slot(AudioView own, bool far_end_heard, Nanos now);
  void record_unmasked(AudioView received, AudioView sent);
  /// Writes the frames that the mask holds.
  void empty_mask();
  /// Writes the frames that wait for packets or are held by the digit mask, before a pause or the end.
  void record_held(bool pauses);

  SampleRate rate_;
  FrameConverter received_;
  FrameConverter sent_;
  Recorder recorder_;
  bool needs_frames_;
  /// Null: frames are recorded.
  std::unique_ptr<RecordingTimeline> timeline_;
  /// All frames pass it with `suppress_digits`, otherwise only the first frames after a pause.
  std::optional<DigitMask> mask_;
  bool suppress_digits_;
  /// Frames since the last pause, while the mask is used.
  int since_pause_ = 0;
  std::shared_ptr<RecordingSink> sink_;
  ConcludingRecordings* concluding_ = nullptr;
  bool paused_ = false;
  bool sent_left_out_ = false;
  bool done_ = false;
};

}  // namespace carillon
