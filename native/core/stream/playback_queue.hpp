// Queue of a bot's audio and checkpoints between the control thread and a media thread.
//
// Lock-free with one producer and one consumer. The producer owns and frees a list of blocks; the consumer
// traverses it and publishes its position. The media thread therefore never allocates, and a whole utterance
// can arrive in one burst. clear() takes effect immediately for the producer and with the next frame for the
// consumer.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/frame.hpp"
#include "core/base/play_position.hpp"
#include "core/leg/statistics.hpp"

namespace carillon {

class PlaybackQueue {
 public:
  /// `rate`: sample rate of the audio. `capacity_samples`: maximum queued samples.
  PlaybackQueue(SampleRate rate, size_t capacity_samples);
  [[nodiscard]] SampleRate rate() const { return rate_; }

  // --- producer ---
  /// Adds all audio, or returns false if it does not fit. Cleared audio that the consumer has not dropped yet
  /// may occupy the capacity once more.
  bool push(std::span<const Sample> audio);
  /// Adds a checkpoint, or returns false if too many wait, because the consumer has stopped.
  bool checkpoint(uint32_t id);
  /// Drops all queued audio and checkpoints.
  void clear();
  [[nodiscard]] size_t queued() const;
  [[nodiscard]] size_t capacity() const { return capacity_; }
  /// Position at the last clear() of the producer. Any thread may call it.
  [[nodiscard]] PlayPosition cleared_at() const { return cleared_at_.read(); }

  // --- consumer ---
  struct Taken {
    size_t samples = 0;
    /// True after a clear(): `samples` then holds only a short fade-out.
    bool cleared = false;
  };
  /// Fills `out` from its start. Stops at a checkpoint until reached() has consumed it.
  Taken read(std::span<Sample> out);
  /// Returns the next checkpoint whose audio has been read completely.
  std::optional<uint32_t> reached();
  [[nodiscard]] size_t available() const;
  /// Position after the last read().
  [[nodiscard]] PlayPosition position() const;
  struct Dropped {
    /// A short fade-out at the start of `out`.
    size_t samples = 0;
    PlayPosition at;
    /// The last checkpoint dropped.
    std::optional<uint32_t> checkpoint;
  };
  /// Drops all queued audio and checkpoints without the producer.
  Dropped drop(std::span<Sample> out);
  /// Drops the audio before the next checkpoint, which reached() then returns. Returns true if the producer
  /// has cleared the queue.
  bool skip();

 private:
  struct Checkpoint {
    uint64_t serial = 0;  // of its block; 0: none
    uint32_t id = 0;
  };
  struct Block {
    std::atomic<Block*> next{nullptr};
    uint64_t serial = 0;
    int64_t end = 0;          // position after the last sample
    uint32_t message = 0;     // number of the last message up to here
    bool is_message = false;  // false: a checkpoint
    std::vector<Sample> audio;
    std::atomic<int64_t> heard{0};  // samples passed on by the consumer; the rest was dropped or is queued
    std::optional<uint32_t> checkpoint;
    Checkpoint last_checkpoint;  // up to here, also if it was reached
  };
  /// Played part of the last message of which the consumer has passed on any audio. Times are samples.
  struct Heard {
    uint32_t message = 0;
    int64_t played = 0;
    int64_t size = 0;
  };

  void append(std::unique_ptr<Block> block);
  void release();
  [[nodiscard]] size_t max_messages() const;
  Block* following();
  size_t apply_clear(uint64_t cut, std::span<Sample> out);
  size_t drop_until(Block& last, std::span<Sample> out);
  void enter(Block* next);
  [[nodiscard]] uint32_t ms_of(int64_t samples) const;
  void describe(const Heard& heard, PlayPosition& at) const;
  void publish_clear();

  SampleRate rate_;
  size_t capacity_;
  // Producer state.
  std::deque<std::unique_ptr<Block>> blocks_;
  size_t held_ = 0;  // samples in blocks_, also of audio that was played or cleared
  uint64_t next_serial_ = 1;
  int64_t cut_position_ = 0;
  uint32_t messages_ = 0;
  uint32_t clears_ = 0;
  Heard released_;  // of the blocks that were freed
  Checkpoint last_checkpoint_;
  SequenceCell<PlayPosition> cleared_at_;
  // Shared state. Positions count samples since the beginning.
  std::atomic<int64_t> written_{0};
  std::atomic<int64_t> read_{0};
  /// Number of the first block after the last clear, and the block before it.
  std::atomic<uint64_t> cut_serial_{0};
  std::atomic<Block*> cut_last_;
  std::atomic<Block*> last_;
  std::atomic<uint64_t> in_use_serial_{0};
  // Consumer state.
  Block* current_;
  size_t offset_ = 0;
  Heard heard_;
  uint64_t applied_cut_ = 0;
  // Position from which played_ms counts. Written by the consumer.
  std::atomic<int64_t> counted_from_{0};
};

}  // namespace carillon
