// Producer side of a playback queue: converts the bot's messages to samples at the queue's rate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/dsp/resampler.hpp"
#include "core/stream/format.hpp"
#include "core/stream/playback_queue.hpp"

namespace carillon {

enum class PlayResult : uint8_t { taken, other, bad_payload, unsupported_format, wrong_stream, buffer_full };

class StreamInput {
 public:
  StreamInput(std::string stream_id, StreamFormat own_format, std::shared_ptr<PlaybackQueue> queue);

  /// Processes a complete WebSocket message.
  PlayResult receive(std::string_view message);
  /// Returns true if receive() would accept the message as audio.
  [[nodiscard]] static bool is_play(std::string_view message);
  /// Returns true if the message is a simple clearAudio for this stream.
  [[nodiscard]] bool is_clear(std::string_view message) const;
  /// Adds raw audio from a message that was parsed elsewhere.
  PlayResult enqueue(const StreamFormat& format, Bytes audio);

  void checkpoint(uint32_t id) { queue_->checkpoint(id); }
  void clear();
  [[nodiscard]] size_t queued_ms() const {
    return queue_->queued() / static_cast<size_t>(queue_->rate().per_ms());
  }
  /// Fill level in percent, 0-100.
  [[nodiscard]] unsigned fill_percent() const;

 private:
  PlayResult play(std::string_view message);
  PlayResult push(const StreamFormat& format, Bytes audio);
  void release_scratch();
  std::span<const Sample> decode(const StreamFormat& format, Bytes audio);
  std::span<const Sample> to_queue_rate(int rate, std::span<const Sample> audio);

  std::string stream_id_;
  StreamFormat own_format_;
  std::shared_ptr<PlaybackQueue> queue_;
  // State that continues between messages.
  std::optional<uint8_t> odd_byte_;
  std::optional<Resampler> resampler_;
  std::vector<uint8_t> raw_;
  std::vector<Sample> decoded_;
  std::vector<Sample> resampled_;
};

}  // namespace carillon
