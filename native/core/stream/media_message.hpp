// Writes `media` messages of a stream as JSON text, one per 20 ms and track.
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
  /// Ten spaces reserve room for the sequence number, which the socket's owner fills in because it counts all
  /// messages.
  static constexpr std::string_view kHead = "{\"sequenceNumber\":          ";

  /// `extra_headers_json`: a JSON string literal including quotes.
  MediaMessageWriter(std::string_view stream_id, Track track, StreamFormat format,
                     std::string_view extra_headers_json);

  /// Returns the message for a frame of any rate; valid until the next call. `epoch_ms`: wall time of the
  /// frame's first sample.
  Bytes write(AudioView audio, int64_t epoch_ms);

 private:
  void append(std::string_view text);
  void append_number(int64_t value);
  [[nodiscard]] Bytes encode(AudioView audio);

  StreamFormat format_;
  // Constant parts of the message.
  std::string before_timestamp_;
  std::string after_payload_;
  int64_t chunk_ = 0;
  FrameConverter converter_;
  std::vector<uint8_t> raw_;
  std::vector<uint8_t> message_;
  size_t length_ = 0;
};

}  // namespace carillon
