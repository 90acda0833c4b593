// Writes the `media` messages of a stream, one per 20 ms and track, as finished JSON text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/frame.hpp"
#include "core/dsp/resampler.hpp"
#include "core/stream/format.hpp"

namespace carillon {

enum class Track : uint8_t { inbound, outbound };

class MediaMessageWriter {
 public:
  /// Ten spaces stand for the sequence number, which only the socket's owner knows: it counts every message.
  static constexpr std::string_view kHead = "{\"sequenceNumber\":          ";

  /// `extra_headers_json` is a JSON string literal, quotes included.
  MediaMessageWriter(std::string_view stream_id, Track track, StreamFormat format,
                     std::string_view extra_headers_json);

  /// The next message, of a frame of any rate; valid until the next call. `epoch_ms`: time of the frame's
  /// first sample.
  Bytes write(AudioView audio, int64_t epoch_ms);

 private:
  void append(std::string_view text);
  void append_number(int64_t value);
  [[nodiscard]] Bytes encode(AudioView audio);

  // Given.
  StreamFormat format_;
  // Parts of the message that never change.
  std::string before_timestamp_;
  std::string after_payload_;
  // State.
  int64_t chunk_ = 0;
  FrameConverter converter_;
  std::vector<uint8_t> raw_;
  std::vector<uint8_t> message_;
  size_t length_ = 0;
};

}  // namespace carillon
