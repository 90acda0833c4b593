// Packet of a peer for recorders, as it arrived.
#pragma once

#include <cstdint>

#include "core/codec/codec.hpp"

namespace carillon {

struct ReceivedPacket {
  enum class Kind : uint8_t {
    audio,
    event,    // keypad event: the sender has no audio for its duration
    comfort,  // comfort noise: payload of RFC 3389, or empty for silence
  };
  Kind kind = Kind::audio;
  /// Identifies the sequence numbering. It changes with the source and when the source restarts.
  uint64_t stream = 0;
  int64_t sequence = 0;  // extended
  RtpTimestamp timestamp;
  Nanos arrival{};
  // --- audio ---
  Coding coding = Coding::pcmu;
  /// Sample rate of the codec, for codings with several rates.
  SampleRate rate{8000};
  Bytes payload;
  // --- event ---
  /// Duration on the clock of the audio.
  RtpTicks duration;
  /// False if telephone-event has another clock than the audio. The arrival then shows the time of the event.
  bool timed = true;
};

}  // namespace carillon
