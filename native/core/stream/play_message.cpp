#include "core/stream/play_message.hpp"

#include <algorithm>
#include <cstring>

namespace carillon {

namespace {

/// Scans JSON text. Each step fails at the first construct that needs the full parser.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char expected) {
    space();
    if (peek() != expected) return false;
    ++at_;
    space();
    return true;
  }

  std::optional<std::string_view> string() {
    if (peek() != '"') return std::nullopt;
    const size_t from = at_ + 1;
    // memchr is faster than a loop: the payload makes up almost the whole message.
    const void* quote = std::memchr(text_.data() + from, '"', text_.size() - from);
    if (quote == nullptr) return std::nullopt;
    const auto length = static_cast<size_t>(static_cast<const char*>(quote) - (text_.data() + from));
    const std::string_view value = text_.substr(from, length);
    at_ = from + length + 1;
    return value;
  }

  /// Scans a number, true, false or null. Returns the text of numbers only.
  std::optional<std::string_view> literal() {
    const size_t from = at_;
    while (at_ < text_.size() && is_literal(text_[at_])) ++at_;
    const std::string_view value = text_.substr(from, at_ - from);
    if (value == "true" || value == "false" || value == "null" || is_number(value)) return value;
    return std::nullopt;
  }

  static bool is_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_literal(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' || c == 'E';
  }
  /// Accepts integers without a leading zero. Fractions and exponents need the full parser.
  static bool is_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return is_digits(text) && (text.size() == 1 || text.front() != '0');
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// Returns true for short strings (keys, names) without escapes or control characters. The base64 decoder
/// validates the payload.
bool plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}

bool set_once(std::optional<std::string_view>& slot, std::string_view value) {
  if (slot) return false;
  slot = value;
  return true;
}

struct Value {
  std::string_view text;
  bool is_string;
};

std::optional<Value> simple_value(Scanner& scanner) {
  if (scanner.peek() == '"') {
    const auto text = scanner.string();
    if (!text) return std::nullopt;
    return Value{*text, true};
  }
  const auto text = scanner.literal();
  if (!text) return std::nullopt;
  return Value{*text, false};
}

bool media_member(std::string_view key, const Value& value, PlayMessage& out) {
  if (key == "payload") {
    // A backslash starts an escape, which is invalid base64 but can be valid for the full parser.
    return value.is_string && value.text.find('\\') == std::string_view::npos &&
           set_once(out.payload, value.text);
  }
  if (!plain(value.text)) return false;
  if (key == "contentType") return value.is_string && set_once(out.content_type, value.text);
  if (key == "sampleRate") return Scanner::is_digits(value.text) && set_once(out.sample_rate, value.text);
  return true;
}

/// Scans `"key": value` pairs up to the closing brace. `member` processes the value at the scanner's
/// position.
template <typename Member>
bool object(Scanner& scanner, Member member) {
  if (!scanner.take('{')) return false;
  if (scanner.take('}')) return true;
  do {
    const auto key = scanner.string();
    if (!key || !plain(*key) || !scanner.take(':') || !member(*key)) return false;
  } while (scanner.take(','));
  return scanner.take('}');
}

/// Returns true if the text is exactly one object.
template <typename Member>
bool whole_object(Scanner& scanner, Member member) {
  scanner.space();
  return object(scanner, member) && scanner.at_end();
}

/// Processes the fields that all messages share.
bool envelope_member(Scanner& scanner, std::string_view key, std::optional<std::string_view>& event,
                     std::optional<std::string_view>& stream_id) {
  const auto value = simple_value(scanner);
  if (!value || !plain(value->text)) return false;
  if (key == "event") return value->is_string && set_once(event, value->text);
  if (key == "streamId") return value->is_string && set_once(stream_id, value->text);
  return true;
}

}  // namespace

std::optional<PlayMessage> scan_play_message(std::string_view text) {
  Scanner scanner(text);
  PlayMessage message;
  std::optional<std::string_view> event;
  bool media_seen = false;
  const auto media = [&](std::string_view key) {
    const auto value = simple_value(scanner);
    return value && media_member(key, *value, message);
  };
  const auto top = [&](std::string_view key) {
    if (key == "media") {
      if (media_seen) return false;
      media_seen = true;
      return object(scanner, media);
    }
    return envelope_member(scanner, key, event, message.stream_id);
  };
  if (!whole_object(scanner, top) || event != "playAudio" || !media_seen) return std::nullopt;
  return message;
}

bool scan_clear_message(std::string_view text, std::string_view stream_id) {
  // Longer than any valid message of this type; avoids scanning audio twice.
  constexpr size_t kLongest = 512;
  if (text.size() > kLongest) return false;
  Scanner scanner(text);
  std::optional<std::string_view> event;
  std::optional<std::string_view> named;
  const auto top = [&](std::string_view key) { return envelope_member(scanner, key, event, named); };
  if (!whole_object(scanner, top) || event != "clearAudio") return false;
  return !named || *named == stream_id;
}

}  // namespace carillon
