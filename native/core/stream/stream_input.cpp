#include "core/stream/stream_input.hpp"

#include <charconv>

#include "core/base/base64.hpp"
#include "core/codec/g711.hpp"
#include "core/stream/play_message.hpp"

namespace carillon {

namespace {

/// Scratch memory kept between messages: half a second of L16 at 24 kHz.
constexpr size_t kKeptScratch = 36 * 1024;

/// Sample rate of audio/x-mulaw.
constexpr int kMulawRate = 8000;

enum class FormatVerdict : uint8_t { known, unplayable, unclear };

/// Determines the audio format of a message. Omitted values default to the stream's own format.
FormatVerdict format_of(const PlayMessage& message, const StreamFormat& own, StreamFormat& out) {
  out = own;
  if (message.content_type) {
    if (*message.content_type == "audio/x-l16") {
      out.encoding = StreamEncoding::l16;
    } else if (*message.content_type == "audio/x-mulaw") {
      out.encoding = StreamEncoding::mulaw;
      out.rate = kMulawRate;
    } else {
      return FormatVerdict::unclear;  // an alias, or a rate within the type
    }
  }
  if (message.sample_rate) {
    const char* const end = message.sample_rate->data() + message.sample_rate->size();
    const auto parsed = std::from_chars(message.sample_rate->data(), end, out.rate);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return FormatVerdict::unplayable;
  }
  return playable(out) ? FormatVerdict::known : FormatVerdict::unplayable;
}

}  // namespace

StreamInput::StreamInput(std::string stream_id, StreamFormat own_format, std::shared_ptr<PlaybackQueue> queue)
    : stream_id_(std::move(stream_id)), own_format_(own_format), queue_(std::move(queue)) {}

PlayResult StreamInput::receive(std::string_view text) {
  const PlayResult result = play(text);
  if (raw_.capacity() + decoded_.capacity() > kKeptScratch) release_scratch();
  return result;
}

/// Releases the scratch memory of a long message.
void StreamInput::release_scratch() {
  std::vector<uint8_t>().swap(raw_);
  std::vector<Sample>().swap(decoded_);
  std::vector<Sample>().swap(resampled_);
}

PlayResult StreamInput::play(std::string_view text) {
  const std::optional<PlayMessage> message = scan_play_message(text);
  if (!message) return PlayResult::other;
  if (message->stream_id && *message->stream_id != stream_id_) return PlayResult::wrong_stream;
  StreamFormat format;
  switch (format_of(*message, own_format_, format)) {
    case FormatVerdict::unclear:
      return PlayResult::other;
    case FormatVerdict::unplayable:
      return PlayResult::unsupported_format;
    case FormatVerdict::known:
      break;
  }
  if (!message->payload) return PlayResult::bad_payload;
  if (raw_.size() < base64_decoded_limit(message->payload->size())) {
    raw_.resize(base64_decoded_limit(message->payload->size()));
  }
  const std::optional<size_t> bytes = base64_decode(*message->payload, raw_);
  if (!bytes) return PlayResult::bad_payload;
  // Refused like other faults, with its own reason.
  if (*bytes == 0) return PlayResult::other;
  return push(format, Bytes(raw_).first(*bytes));
}

bool StreamInput::is_play(std::string_view message) { return scan_play_message(message).has_value(); }

bool StreamInput::is_clear(std::string_view message) const { return scan_clear_message(message, stream_id_); }

std::span<const Sample> StreamInput::decode(const StreamFormat& format, Bytes audio) {
  if (format.encoding == StreamEncoding::mulaw) {
    odd_byte_.reset();
    decoded_.resize(audio.size());
    g711_decode(G711Law::mu, audio, decoded_);
    return decoded_;
  }
  // An odd trailing byte is half of a sample that continues in the next message.
  const size_t total = audio.size() + (odd_byte_ ? 1 : 0);
  decoded_.resize(total / 2);
  size_t at = 0;
  const auto next_byte = [&]() -> uint16_t {
    if (odd_byte_) {
      const uint8_t kept = *odd_byte_;
      odd_byte_.reset();
      return kept;
    }
    return audio[at++];
  };
  for (Sample& sample : decoded_) {
    const uint16_t low = next_byte();
    const uint16_t high = next_byte();
    sample = static_cast<Sample>(static_cast<uint16_t>(low | (high << 8)));
  }
  if (at < audio.size()) odd_byte_ = audio[at];
  return decoded_;
}

std::span<const Sample> StreamInput::to_queue_rate(int rate, std::span<const Sample> audio) {
  const ResamplerFilter* const filter = line_filter(SampleRate(rate), queue_->rate());
  if (filter == nullptr) {
    resampler_.reset();
    return audio;
  }
  if (!resampler_ || &resampler_->filter() != filter) resampler_.emplace(*filter);
  resampled_.resize(filter->max_output(audio.size()));
  return std::span<const Sample>(resampled_).first(resampler_->process(audio, resampled_));
}

PlayResult StreamInput::enqueue(const StreamFormat& format, Bytes audio) {
  const PlayResult result = push(format, audio);
  if (decoded_.capacity() > kKeptScratch) release_scratch();
  return result;
}

PlayResult StreamInput::push(const StreamFormat& format, Bytes audio) {
  if (!playable(format)) return PlayResult::unsupported_format;
  // Check before decoding, because a refused message must not affect the filter or the odd byte.
  const size_t samples = format.encoding == StreamEncoding::mulaw ? audio.size() : audio.size() / 2;
  const size_t at_queue_rate =
      samples * static_cast<size_t>(queue_->rate().hz()) / static_cast<size_t>(format.rate);
  if (queue_->queued() + at_queue_rate > queue_->capacity()) return PlayResult::buffer_full;
  return queue_->push(to_queue_rate(format.rate, decode(format, audio))) ? PlayResult::taken
                                                                         : PlayResult::buffer_full;
}

void StreamInput::clear() {
  queue_->clear();
  odd_byte_.reset();
  if (resampler_) resampler_->reset();
}

unsigned StreamInput::fill_percent() const {
  return static_cast<unsigned>(100 * queue_->queued() / std::max<size_t>(1, queue_->capacity()));
}

}  // namespace carillon
