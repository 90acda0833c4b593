// Audio formats of the stream socket. L16 is little-endian in both directions.
#pragma once

#include <cstdint>

namespace carillon {

enum class StreamEncoding : uint8_t { l16, mulaw };

struct StreamFormat {
  StreamEncoding encoding = StreamEncoding::l16;
  int rate = 8000;

  friend bool operator==(const StreamFormat&, const StreamFormat&) = default;
};

/// Returns true for formats that bots may send: L16 at 8000, 16000 or 24000 Hz, mu-law at 8000 Hz.
constexpr bool playable(const StreamFormat& format) {
  if (format.encoding == StreamEncoding::mulaw) return format.rate == 8000;
  return format.rate == 8000 || format.rate == 16000 || format.rate == 24000;
}

}  // namespace carillon
