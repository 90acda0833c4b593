// Position within the audio that a bot has queued.
#pragma once

#include <cstdint>

namespace carillon {

/// How far the audio of a stream has been played. Times are those of samples passed on to the line.
struct PlayPosition {
  /// Time in ms since the last checkpoint that was reached, the last clear or the begin of the stream.
  uint32_t played_ms = 0;
  /// Number of the `playAudio` message played last, counted from 1 over the stream; 0: none.
  uint32_t message = 0;
  /// Played part and length of this message in ms.
  uint32_t message_played_ms = 0;
  uint32_t message_ms = 0;
  /// Queued audio in ms that a clear has discarded.
  uint32_t discarded_ms = 0;
  /// Counts the clears, to distinguish their positions.
  uint32_t clears = 0;
};

struct ReachedCheckpoint {
  uint32_t id = 0;
  PlayPosition at;
};

}  // namespace carillon
