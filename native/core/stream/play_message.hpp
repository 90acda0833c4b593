// Reads the one message that comes at packet rate, `playAudio`, without a JSON parser behind it.
//
//   {"event":"playAudio","streamId":"…","media":{"contentType":"audio/x-l16","sampleRate":16000,"payload":"<base64>"}}
//
// Keys in any order, white space anywhere, unknown keys with simple values. Whatever is less plain than that
// (escapes, repeated keys, nested unknown values, any fault of syntax) is not judged here: the full parser
// gets the message.
#pragma once

#include <optional>
#include <string_view>

namespace carillon {

struct PlayMessage {
  std::string_view event;
  std::optional<std::string_view> stream_id;
  std::optional<std::string_view> content_type;
  /// Digits only; clients send it as a number or as a string.
  std::optional<std::string_view> sample_rate;
  std::optional<std::string_view> payload;
};

/// Nothing: not plain enough, or not a playAudio. The views point into `text`.
std::optional<PlayMessage> scan_play_message(std::string_view text);

}  // namespace carillon
