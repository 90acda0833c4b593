#include "core/stream/audio_stream.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// Maximum number of frames per track and call: the capacity of the store. More indicates a reader error.
constexpr int kMaxFramesPerPump = static_cast<int>(PayloadStore::kHeldTime / kFrameTime);
}  // namespace

AudioStream::AudioStream(const AudioStreamConfig& config, std::unique_ptr<AudioDecoder> decoder,
                         std::shared_ptr<PlaybackQueue> queue)
    : config_(config), reader_(std::move(decoder), config.opened) {
  if (config.inbound) {
    inbound_.emplace(config.stream_id, Track::inbound, config.format, config.extra_headers_json);
  }
  if (config.outbound) {
    outbound_.emplace(config.stream_id, Track::outbound, config.format, config.extra_headers_json);
  }
  if (queue) playback_.emplace(std::move(queue));
}

void AudioStream::pause(bool paused) {
  if (paused_ && !paused) {
    inbound_began_ms_.reset();
    outbound_began_ms_.reset();
    inbound_frames_ = outbound_frames_ = 0;
  }
  paused_ = paused;
}

void AudioStream::report(Bytes message, Events& events) const {
  if (config_.feed) {
    config_.feed->media(config_.socket, message);
  } else {
    events.media(config_.handle, message);
  }
}

int64_t AudioStream::timestamp(std::optional<int64_t>& first, int64_t& frames, Nanos now) const {
  if (!first) first = config_.epoch_ms + (now - config_.opened) / kMillisecond - kFrameMs;
  return *first + kFrameMs * frames++;
}

void AudioStream::pump(Nanos now, const PayloadStore& store, const DelayEstimator& delays, Events& events) {
  if (!inbound_ || paused_) return;
  Frame frame(kLineRates.front());
  for (int i = 0; i < kMaxFramesPerPump && reader_.next(now, store, delays, frame); ++i) {
    if (reader_.jumps() != jumps_) {
      jumps_ = reader_.jumps();
      inbound_began_ms_.reset();
      inbound_frames_ = 0;
    }
    const int64_t at_ms = timestamp(inbound_began_ms_, inbound_frames_, now);
    report(inbound_->write(frame, at_ms), events);
  }
}

void AudioStream::sent(AudioView audio, Nanos now, Events& events) {
  if (!outbound_ || paused_) return;
  const int64_t at_ms = timestamp(outbound_began_ms_, outbound_frames_, now);
  report(outbound_->write(audio, at_ms), events);
}

std::optional<AudioView> AudioStream::play(Nanos now, SampleRate rate, Frame& out, Frame& scratch) {
  if (!playback_ || paused_) return std::nullopt;
  const StreamPlayback::Played played = playback_->next(now, out);
  keep(played);
  // The resampler delays the last audio by 2 ms; a frame of silence flushes it.
  const bool rings_out = rang_ && playback_->rate() != rate;
  rang_ = played.audible;
  if (!played.audible && !rings_out) return std::nullopt;
  return to_line_.convert(out, rate, scratch);
}

void AudioStream::wait(Nanos now) {
  if (playback_ && !paused_) keep(playback_->wait(now));
}

void AudioStream::keep(const StreamPlayback::Played& played) {
  const size_t count = std::min(played.checkpoint_count, reached_.size() - reached_count_);
  std::copy_n(played.checkpoints.begin(), count,
              reached_.begin() + static_cast<std::ptrdiff_t>(reached_count_));
  reached_count_ += count;
}

void AudioStream::frames_left(Events& events) {
  for (size_t i = 0; i < reached_count_; ++i) events.played(config_.handle, reached_[i]);
  reached_count_ = 0;
}

}  // namespace carillon
