// One audio stream of a leg on the media thread: taps both directions and plays the bot's audio.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "core/base/events.hpp"
#include "core/dsp/speech_detector.hpp"
#include "core/stream/audio_cleaner.hpp"
#include "core/stream/live_reader.hpp"
#include "core/stream/media_feed.hpp"
#include "core/stream/media_message.hpp"
#include "core/stream/stream_playback.hpp"

namespace carillon {

/// Reaction of the bot's audio to the caller's speech.
enum class BargeIn : uint8_t { none, duck, clear };

struct AudioStreamConfig {
  StreamHandle handle;
  std::string stream_id;
  StreamFormat format;
  bool inbound = true;
  bool outbound = false;
  std::string extra_headers_json;
  /// Wall time at `opened` in ms since the Unix epoch.
  int64_t epoch_ms = 0;
  Nanos opened{};
  /// Destination of `media` messages if the stream has its own socket. Null: the control thread.
  std::shared_ptr<MediaFeed> feed;
  /// Handle of that socket in the feed.
  SocketHandle socket;
  /// Detection of the caller's speech. Requires `inbound`. Without a value, it is disabled.
  std::optional<SpeechDetector::Options> speech;
  BargeIn barge_in = BargeIn::none;
};

class AudioStream {
 public:
  /// `decoder` must match the leg's coding. `queue`: null for a unidirectional stream.
  AudioStream(const AudioStreamConfig& config, std::unique_ptr<AudioDecoder> decoder,
              std::shared_ptr<PlaybackQueue> queue);

  /// Cleans the caller's audio for the bot from now on. Call before the stream is added to a leg.
  void clean_with(std::unique_ptr<AudioCleaner> cleaner) { cleaner_ = std::move(cleaner); }

  [[nodiscard]] StreamHandle handle() const { return config_.handle; }
  [[nodiscard]] bool plays() const { return playback_.has_value(); }
  /// Pauses or resumes. While paused, sending and playback stop; afterwards time continues from
  /// the present.
  void pause(bool paused);

  /// Sends the received audio that is ready. Call after each arrival and once per frame.
  void pump(Nanos now, const PayloadStore& store, const DelayEstimator& delays, Events& events);
  /// Switches to the leg's new coding and returns the previous decoder.
  void use(std::unique_ptr<AudioDecoder>& decoder, Nanos now) { reader_.use(decoder, now); }
  /// Processes the frame that is sent to the peer.
  void sent(AudioView audio, Nanos now, Events& events);
  /// Returns the bot's next 20 ms at this rate, stored in `out` or `scratch`, or nullopt if there is no
  /// audio.
  std::optional<AudioView> play(Nanos now, SampleRate rate, Frame& out, Frame& scratch);
  /// Skips a frame that does not carry bot audio. Call instead of play().
  void wait(Nanos now);
  /// Reports the checkpoints of all played audio after it was sent.
  void frames_left(Events& events);

 private:
  void keep(const StreamPlayback::Played& played);
  void listen(const Frame& heard, Nanos now, Events& events);
  void answered(const Frame& said, Nanos now);
  void duck(Frame& said);
  void report(Bytes message, Events& events) const;
  int64_t timestamp(std::optional<int64_t>& first, int64_t& frames, Nanos now) const;

  [[nodiscard]] AudioView cleaned(AudioView audio, Frame& out);

  AudioStreamConfig config_;
  LiveReader reader_;
  std::optional<MediaMessageWriter> inbound_;
  std::optional<MediaMessageWriter> outbound_;
  std::optional<StreamPlayback> playback_;
  FrameConverter to_line_;
  std::unique_ptr<AudioCleaner> cleaner_;
  FrameConverter to_cleaner_;
  FrameConverter sent_to_cleaner_;
  bool rang_ = false;
  /// Checkpoints reached but not reported. A packet holds up to three frames.
  std::array<ReachedCheckpoint, 3 * StreamPlayback::kMaxCheckpointsPerFrame> reached_{};
  size_t reached_count_ = 0;
  bool paused_ = false;
  // Wall time of each track's first frame in ms. Later frames follow at intervals of exactly 20 ms.
  std::optional<int64_t> inbound_began_ms_;
  std::optional<int64_t> outbound_began_ms_;
  uint32_t jumps_ = 0;
  int64_t inbound_frames_ = 0;
  int64_t outbound_frames_ = 0;

  /// State for speech detection.
  struct Listening {
    explicit Listening(const SpeechDetector::Options& options) : detector(options) {}
    SpeechDetector detector;
    /// End of the caller's last active frame; kNever: the bot has answered it.
    Nanos unanswered_since = kNever;
    Nanos said_until = kNever;  // end of the bot's last audible frame
    float gain = 1.0F;
    std::optional<PlaybackQueue::Dropped> interrupted;
    std::optional<Nanos> latency;
  };
  /// Null: disabled.
  std::unique_ptr<Listening> listening_;
};

}  // namespace carillon
