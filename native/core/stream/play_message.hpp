// Fast scanner for two bot messages that bypass the JSON parser: `playAudio`, which arrives at packet rate,
// and `clearAudio`, which must silence the line with the next frame.
//
//   {"event":"playAudio","streamId":"…","media":{"contentType":"audio/x-l16","sampleRate":16000,"payload":"<base64>"}}
//   {"event":"clearAudio","streamId":"…"}
//
// Accepts keys in any order, any white space, and unknown keys with simple values. Leaves all other messages
// (escapes, repeated keys, nested unknown values, syntax errors) to the full parser.
#pragma once

#include <optional>
#include <string_view>

namespace carillon {

struct PlayMessage {
  std::optional<std::string_view> stream_id;
  std::optional<std::string_view> content_type;
  /// Digits of the sample rate; clients send it as a number or a string.
  std::optional<std::string_view> sample_rate;
  std::optional<std::string_view> payload;
};

/// Returns nullopt if the message needs the full parser or is not a playAudio. The views refer to `text`.
std::optional<PlayMessage> scan_play_message(std::string_view text);

/// Returns true for a clearAudio of this stream.
bool scan_clear_message(std::string_view text, std::string_view stream_id);

}  // namespace carillon
