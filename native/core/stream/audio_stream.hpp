// One audio stream of a leg, on the media thread: taps of what is heard and said, and the bot's audio.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "core/base/events.hpp"
#include "core/stream/live_reader.hpp"
#include "core/stream/media_feed.hpp"
#include "core/stream/media_message.hpp"
#include "core/stream/stream_playback.hpp"

namespace carillon {

struct AudioStreamConfig {
  StreamHandle handle;
  std::string stream_id;
  StreamFormat format;
  bool inbound = true;
  bool outbound = false;
  std::string extra_headers_json;
  /// Wall time at `opened`, ms since the epoch.
  int64_t epoch_ms = 0;
  Nanos opened{};
  /// Where `media` goes when the stream has a socket of its own; nothing: to the control thread.
  std::shared_ptr<MediaFeed> feed;
  /// The feed's name for that socket.
  SocketHandle socket;
};

class AudioStream {
 public:
  /// `decoder` of the leg's coding; `queue` only for a bidirectional stream.
  AudioStream(const AudioStreamConfig& config, std::unique_ptr<AudioDecoder> decoder,
              std::shared_ptr<PlaybackQueue> queue);

  [[nodiscard]] StreamHandle handle() const { return config_.handle; }
  [[nodiscard]] bool plays() const { return playback_.has_value(); }
  /// While paused nothing is sent and nothing is taken from the queue; afterwards time goes on from the
  /// present.
  void pause(bool paused);

  /// Sends what may go out of the received audio: after each arrival and once a frame.
  void pump(Nanos now, const PayloadStore& store, const DelayEstimator& delays, Events& events);
  /// The leg has another coding. Gives the decoder before back.
  void use(std::unique_ptr<AudioDecoder>& decoder, Nanos now) { reader_.use(decoder, now); }
  /// The frame that the peer hears.
  void sent(AudioView audio, Nanos now, Events& events);
  /// The bot's next 20 ms at this rate, within `out` or `scratch`; nothing: it says nothing now.
  std::optional<AudioView> play(Nanos now, SampleRate rate, Frame& out, Frame& scratch);
  /// In the place of play() when a frame does not carry the bot's audio.
  void wait(Nanos now);
  /// Reports the checkpoints of all that was played: it has left.
  void frames_left(Events& events);

 private:
  void keep(const StreamPlayback::Played& played);
  void tell(Bytes message, Events& events) const;
  int64_t timestamp(std::optional<int64_t>& first, int64_t& frames, Nanos now) const;

  AudioStreamConfig config_;
  LiveReader reader_;
  std::optional<MediaMessageWriter> inbound_;
  std::optional<MediaMessageWriter> outbound_;
  std::optional<StreamPlayback> playback_;
  FrameConverter to_line_;
  bool rang_ = false;
  /// Reached, not reported yet: a packet holds up to three frames.
  std::array<uint32_t, 3 * StreamPlayback::kMaxCheckpointsPerFrame> reached_{};
  size_t reached_count_ = 0;
  bool paused_ = false;
  // Wall time of each track's first frame; later ones follow at exactly 20 ms.
  std::optional<int64_t> inbound_began_ms_;
  std::optional<int64_t> outbound_began_ms_;
  uint32_t jumps_ = 0;
  int64_t inbound_frames_ = 0;
  int64_t outbound_frames_ = 0;
};

}  // namespace carillon
