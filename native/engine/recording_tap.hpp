// A recording as a tap of a leg or a room: the recorder's rules, and the file behind them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/dsp/resampler.hpp"
#include "core/leg/tap.hpp"
#include "core/record/digit_mask.hpp"
#include "core/record/recorder.hpp"
#include "io/recording_writer.hpp"

namespace carillon {

/// Recordings that have ended but whose files are still being written; told once they are complete.
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

class RecordingTap final : public LegTap {
 public:
  RecordingTap(TapHandle handle, const Recorder::Options& options, std::shared_ptr<RecordingSink> sink,
               bool suppress_digits)
      : LegTap(handle), rate_(sink->rate()), recorder_(options, rate_), sink_(std::move(sink)) {
    if (suppress_digits) mask_.emplace();
  }

  /// Of the media thread on which it is, or has come to be.
  void conclude_to(ConcludingRecordings& concluding) { concluding_ = &concluding; }

  void frame(AudioView received, AudioView sent, Nanos now, Events& events) override;
  void leg_ended(Events& events) override;

  void pause(bool paused);
  void stop() { conclude(RecordingEnd::stopped); }

 private:
  void conclude(RecordingEnd reason);
  void record(AudioView received, AudioView sent);
  /// What the mask still holds belongs to the time before.
  void record_held();

  SampleRate rate_;
  FrameConverter received_;
  FrameConverter sent_;
  Recorder recorder_;
  std::optional<DigitMask> mask_;
  std::shared_ptr<RecordingSink> sink_;
  ConcludingRecordings* concluding_ = nullptr;
  bool paused_ = false;
  bool done_ = false;
};

}  // namespace carillon
