// Reads the messages of a bot that cannot wait for a JSON parser: `playAudio`, which comes at packet rate,
// and `clearAudio`, which has to silence the line with the next frame.
//
//   {"event":"playAudio","streamId":"…","media":{"contentType":"audio/x-l16","sampleRate":16000,"payload":"<base64>"}}
//   {"event":"clearAudio","streamId":"…"}
//
// Keys in any order, white space anywhere, unknown keys with simple values. Whatever is less plain than that
// (escapes, repeated keys, nested unknown values, any fault of syntax) is not judged here: the full parser
// gets the message.
#pragma once

#include <optional>
#include <string_view>

namespace carillon {

struct PlayMessage {
  std::optional<std::string_view> stream_id;
  std::optional<std::string_view> content_type;
  /// Digits only; clients send it as a number or as a string.
  std::optional<std::string_view> sample_rate;
  std::optional<std::string_view> payload;
};

/// Nothing: not plain enough, or not a playAudio. The views point into `text`.
std::optional<PlayMessage> scan_play_message(std::string_view text);

/// Whether it is a clearAudio for this stream.
bool scan_clear_message(std::string_view text, std::string_view stream_id);

}  // namespace carillon
