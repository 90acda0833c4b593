#include "core/stream/media_message.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/base64.hpp"
#include "core/codec/g711.hpp"

namespace carillon {

namespace {
constexpr size_t kNumberDigits = 20;
constexpr std::string_view kBeforeChunk = "\",\"chunk\":";
constexpr std::string_view kBeforePayload = ",\"payload\":\"";
}  // namespace

MediaMessageWriter::MediaMessageWriter(std::string_view stream_id, Track track, StreamFormat format,
                                       std::string_view extra_headers_json)
    : format_(format) {
  before_timestamp_.append(kHead)
      .append(",\"streamId\":\"")
      .append(stream_id)
      .append("\",\"event\":\"media\",\"media\":{\"track\":\"")
      .append(track == Track::inbound ? "inbound" : "outbound")
      .append("\",\"timestamp\":\"");
  after_payload_.append("\"},\"extra_headers\":").append(extra_headers_json).append("}");
  raw_.resize(sizeof(Sample) * frame_samples(SampleRate(format.rate)));
  message_.resize(before_timestamp_.size() + after_payload_.size() + kBeforeChunk.size() +
                  kBeforePayload.size() + 2 * kNumberDigits + base64_length(raw_.size()));
}

void MediaMessageWriter::append(std::string_view text) {
  std::copy(text.begin(), text.end(), message_.begin() + static_cast<std::ptrdiff_t>(length_));
  length_ += text.size();
}

void MediaMessageWriter::append_number(int64_t value) {
  std::array<char, kNumberDigits> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  append({digits.data(), static_cast<size_t>(result.ptr - digits.data())});
}

Bytes MediaMessageWriter::encode(AudioView audio) {
  Frame scratch(audio.rate);
  const auto samples = converter_.convert(audio, SampleRate(format_.rate), scratch).samples;
  if (format_.encoding == StreamEncoding::mulaw) {
    g711_encode(G711Law::mu, samples, raw_);
    return Bytes(raw_).first(samples.size());
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto value = static_cast<uint16_t>(samples[i]);
    raw_[2 * i] = static_cast<uint8_t>(value);
    raw_[2 * i + 1] = static_cast<uint8_t>(value >> 8);
  }
  return Bytes(raw_).first(2 * samples.size());
}

Bytes MediaMessageWriter::write(AudioView audio, int64_t epoch_ms) {
  const Bytes raw = encode(audio);
  length_ = 0;
  append(before_timestamp_);
  append_number(epoch_ms);
  append(kBeforeChunk);
  append_number(++chunk_);
  append(kBeforePayload);
  const size_t encoded = base64_length(raw.size());
  base64_encode(raw, std::span(message_).subspan(length_, encoded));
  length_ += encoded;
  append(after_payload_);
  return Bytes(message_).first(length_);
}

}  // namespace carillon
