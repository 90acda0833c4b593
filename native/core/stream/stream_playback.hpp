// The line's end of a playback queue: one frame every 20 ms, silence when nothing is there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/stream/playback_queue.hpp"

namespace carillon {

/// Starts without any prebuffer. When a bot's jitter has torn a hole into an utterance, a cushion of the hole's length
/// is built up before the next start; it shrinks again while all goes well.
class StreamPlayback {
 public:
  /// More checkpoints in one frame than that wait for the next frame.
  static constexpr size_t kMaxCheckpointsPerFrame = 16;
  static constexpr Nanos kMaxCushion = 80 * kMillisecond;

  explicit StreamPlayback(std::shared_ptr<PlaybackQueue> queue) : queue_(std::move(queue)) {}

  struct Played {
    bool audible = false;
    std::array<uint32_t, kMaxCheckpointsPerFrame> checkpoints{};
    size_t checkpoint_count = 0;
  };
  /// Writes the whole of `out`.
  Played next(Nanos now, Frame& out);

  [[nodiscard]] Nanos cushion() const { return cushion_; }

 private:
  bool hold_back(Nanos now);
  void note_gap(Nanos now);

  std::shared_ptr<PlaybackQueue> queue_;
  bool running_ = false;
  Nanos waiting_since_ = -1;
  Nanos dry_since_ = -1;
  Nanos cushion_ = 0;
  Nanos calm_since_ = 0;
};

}  // namespace carillon
