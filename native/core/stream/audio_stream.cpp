#include "core/stream/audio_stream.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// Maximum number of frames per track and call: the capacity of the store. More indicates a reader error.
constexpr int kMaxFramesPerPump = static_cast<int>(PayloadStore::kHeldTime / kFrameTime);
/// Silence of the caller after which the bot may speak again without clearing its queue.
constexpr uint32_t kHushAfterSpeechMs = 200;
/// Gain of the bot's audio while the caller speaks: -15 dB.
constexpr float kDuckedGain = 0.178F;
/// Shortest silence between two utterances of the bot.
constexpr Nanos kBotPause = 300 * kMillisecond;
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
  if (config.speech && config.inbound) listening_ = std::make_unique<Listening>(*config.speech);
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
    if (listening_) listen(frame, now, events);
    Frame clean(kLineRates.front());
    report(inbound_->write(cleaner_ ? cleaned(frame, clean) : AudioView(frame), at_ms), events);
  }
}

/// Returns the audio at the cleaner's rate, stored in `out`.
AudioView AudioStream::cleaned(AudioView audio, Frame& out) {
  Frame scratch(cleaner_->rate());
  out = to_cleaner_.convert(audio, cleaner_->rate(), scratch);
  cleaner_->clean(out.samples());
  return out;
}

/// Detects speech in a received frame and interrupts the bot.
void AudioStream::listen(const Frame& heard, Nanos now, Events& events) {
  Listening& state = *listening_;
  const auto event = state.detector.feed(heard);
  if (state.detector.speaking() && state.detector.quiet_ms() == 0) state.unanswered_since = now;
  if (playback_ && state.detector.quiet_ms() >= kHushAfterSpeechMs) playback_->resume();
  if (!event) return;
  const bool started = event->kind == SpeechDetector::Kind::started;
  events.speech(config_.handle, started, event->confidence, now - event->ago_ms * kMillisecond);
  if (started && playback_ && config_.barge_in == BargeIn::clear) playback_->interrupt();
}

/// Lowers the bot's audio while the caller speaks, with a ramp over the frame.
void AudioStream::duck(Frame& said) {
  const float wanted = listening_->detector.speaking() ? kDuckedGain : 1.0F;
  float& gain = listening_->gain;
  if (gain == 1.0F && wanted == 1.0F) return;
  const float step = (wanted - gain) / static_cast<float>(said.size());
  for (Sample& sample : said) {
    gain += step;
    sample = static_cast<Sample>(static_cast<float>(sample) * gain);
  }
  gain = wanted;
}

/// Measures the time between the caller's last speech and the bot's answer.
void AudioStream::answered(const Frame& said, Nanos now) {
  Listening& state = *listening_;
  if (is_pause(said.samples())) return;
  // A pause within the bot's speech is not the begin of an answer.
  const bool begins = state.said_until < Nanos{} || now - state.said_until >= kBotPause;
  state.said_until = now;
  if (!begins || state.unanswered_since < Nanos{}) return;
  state.latency = now - state.unanswered_since;
  state.unanswered_since = kNever;
}

void AudioStream::sent(AudioView audio, Nanos now, Events& events) {
  if (listening_ && !paused_) listening_->detector.sent(audio);
  if (cleaner_ && !paused_) {
    Frame scratch(cleaner_->rate());
    cleaner_->sent(sent_to_cleaner_.convert(audio, cleaner_->rate(), scratch).samples);
  }
  if (!outbound_ || paused_) return;
  const int64_t at_ms = timestamp(outbound_began_ms_, outbound_frames_, now);
  report(outbound_->write(audio, at_ms), events);
}

std::optional<AudioView> AudioStream::play(Nanos now, SampleRate rate, Frame& out, Frame& scratch) {
  if (!playback_ || paused_) return std::nullopt;
  const StreamPlayback::Played played = playback_->next(now, out);
  keep(played);
  if (listening_) {
    if (played.audible && !played.interrupted) answered(out, now);
    if (config_.barge_in == BargeIn::duck) duck(out);
  }
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
  if (played.interrupted) listening_->interrupted = played.interrupted;
}

void AudioStream::frames_left(Events& events) {
  if (listening_ && listening_->interrupted) {
    events.interrupted(config_.handle, listening_->interrupted->at, listening_->interrupted->checkpoint);
    listening_->interrupted.reset();
  }
  if (listening_ && listening_->latency) {
    events.turn(config_.handle, *listening_->latency);
    listening_->latency.reset();
  }
  for (size_t i = 0; i < reached_count_; ++i) events.played(config_.handle, reached_[i]);
  reached_count_ = 0;
}

}  // namespace carillon
