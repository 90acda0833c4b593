// Audio of a bot waiting to be played, with its checkpoints, between the control thread and a media thread.
//
// One producer, one consumer, no lock: blocks form a list that only the producer owns and frees; the consumer
// walks it and says how far it has come. So a whole utterance may arrive at once, nothing is allocated on the
// media thread, and clear() takes effect for the producer at once and for the line with the next frame.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/frame.hpp"

namespace carillon {

class PlaybackQueue {
 public:
  /// Samples of this rate.
  PlaybackQueue(SampleRate rate, size_t capacity_samples);
  [[nodiscard]] SampleRate rate() const { return rate_; }

  // --- producer ---
  /// All of it, or nothing when it does not fit.
  bool push(std::span<const Sample> audio);
  void checkpoint(uint32_t id);
  /// Drops everything queued, checkpoints included.
  void clear();
  [[nodiscard]] size_t queued() const;
  [[nodiscard]] size_t capacity() const { return capacity_; }

  // --- consumer ---
  struct Taken {
    size_t samples = 0;
    /// A clear() happened: of what was in hand, a short fade is all that `samples` holds.
    bool cleared = false;
  };
  /// Fills `out` from its start; stops at a checkpoint only when its predecessor has been read to the end.
  Taken read(std::span<Sample> out);
  /// The next checkpoint whose audio has been read.
  std::optional<uint32_t> reached();
  [[nodiscard]] size_t available() const;

 private:
  struct Block {
    std::atomic<Block*> next{nullptr};
    uint64_t serial = 0;
    int64_t end = 0;  // position after its last sample
    std::vector<Sample> audio;
    std::optional<uint32_t> checkpoint;
  };

  void append(std::unique_ptr<Block> block);
  void release();
  Block* following();
  size_t apply_clear(uint64_t cut, std::span<Sample> out);

  // Given.
  SampleRate rate_;
  size_t capacity_;
  // Producer's.
  std::deque<std::unique_ptr<Block>> blocks_;
  uint64_t next_serial_ = 1;
  int64_t cut_position_ = 0;
  // Between the two. Positions count samples since the beginning.
  std::atomic<int64_t> written_{0};
  std::atomic<int64_t> read_{0};
  std::atomic<uint64_t> cut_serial_{0};
  std::atomic<uint64_t> in_use_serial_{0};
  // Consumer's.
  Block* current_;
  size_t offset_ = 0;
  uint64_t applied_cut_ = 0;
};

}  // namespace carillon
