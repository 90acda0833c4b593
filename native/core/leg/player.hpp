// Something played to a leg or a room: a file's samples or a cadence of tones, some times or for ever.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/base/frame.hpp"
#include "core/base/handles.hpp"
#include "core/dsp/resampler.hpp"
#include "core/dsp/tone.hpp"

namespace carillon {

enum class PlayManner : uint8_t {
  /// In the place of the far end; bots are heard beside it.
  instead,
  /// Beside whatever is heard.
  mixed,
  /// Nothing else is heard; what bots have to say waits.
  alone,
};

struct Clip {
  SampleRate rate;
  std::vector<Sample> samples;
};
/// Shared: the same hold music plays to many.
using AudioClip = std::shared_ptr<const Clip>;

class Player {
 public:
  struct Options {
    PlayerHandle handle;
    /// 0: until stopped.
    uint32_t times = 1;
    PlayManner manner = PlayManner::instead;
  };

  Player(const Options& options, AudioClip clip)
      : options_(options), source_(ClipSource{std::move(clip), 0}) {}
  Player(const Options& options, const ToneSpec& tone);

  [[nodiscard]] PlayerHandle handle() const { return options_.handle; }
  [[nodiscard]] PlayManner manner() const { return options_.manner; }
  [[nodiscard]] bool finished() const { return finished_; }

  /// The next 20 ms at this rate, silence after the end; within `out` or `scratch`.
  AudioView next(SampleRate rate, Frame& out, Frame& scratch);
  /// The next frame fades out and is the last one.
  void stop() { stopping_ = true; }

 private:
  struct ClipSource {
    AudioClip clip;
    size_t at;
  };
  struct ToneSource {
    ToneSpec spec;
    ToneGenerator generator;
  };

  size_t render(ClipSource& source, SampleRate rate, std::span<Sample> out);
  size_t render(ToneSource& source, SampleRate rate, std::span<Sample> out);
  [[nodiscard]] bool again();

  Options options_;
  std::variant<ClipSource, ToneSource> source_;
  FrameConverter converter_;
  uint32_t played_ = 0;
  bool stopping_ = false;
  bool finished_ = false;
};

}  // namespace carillon
