// Plays a clip or a tone cadence to a leg or a room, a number of times or until stopped.
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
  /// Replaces the far end; bots remain audible.
  instead,
  /// Is mixed with all other audio.
  mixed,
  /// Replaces all other audio; bot audio waits.
  alone,
};

struct Clip {
  SampleRate rate;
  std::vector<Sample> samples;
};
/// Shared, because one clip (such as hold music) plays to many legs.
using AudioClip = std::shared_ptr<const Clip>;

class Player {
 public:
  struct Options {
    PlayerHandle handle;
    /// Number of passes. 0: until stopped. Default 1.
    uint32_t times = 1;
    PlayManner manner = PlayManner::instead;
  };

  Player(const Options& options, AudioClip clip)
      : options_(options), source_(ClipSource{std::move(clip), 0}) {}
  Player(const Options& options, const ToneSpec& tone);

  [[nodiscard]] PlayerHandle handle() const { return options_.handle; }
  [[nodiscard]] PlayManner manner() const { return options_.manner; }
  [[nodiscard]] bool finished() const { return finished_; }

  /// Returns the next 20 ms at this rate, stored in `out` or `scratch`. Silence after the end.
  AudioView next(SampleRate rate, Frame& out, Frame& scratch);
  /// Ends playback with a fade-out in the next frame.
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
