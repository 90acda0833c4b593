// WebSocket client framing (RFC 6455 §5): received frames are unmasked, sent frames are masked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"

namespace carillon {

enum class Opcode : uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

/// Status codes of the closing handshake (RFC 6455 §7.4.1).
namespace close_code {
inline constexpr uint16_t kNormal = 1000;
inline constexpr uint16_t kProtocolError = 1002;
/// Means that no code was given; never sent.
inline constexpr uint16_t kNone = 1005;
inline constexpr uint16_t kInvalidData = 1007;
inline constexpr uint16_t kTooBig = 1009;
}  // namespace close_code

/// Maximum payload of a control frame in bytes (§5.5).
inline constexpr size_t kMaxControlPayload = 125;

/// Appends one complete frame to `out`. `mask` must be unpredictable (§5.3).
void append_frame(std::vector<uint8_t>& out, Opcode opcode, Bytes payload, uint32_t mask);

/// Returns the payload of a close frame. Truncates the reason to fit.
std::vector<uint8_t> close_payload(uint16_t code, std::string_view reason);

/// Parses frames from a server's byte stream and joins fragments to messages.
class MessageReader {
 public:
  enum class Kind : uint8_t {
    /// More bytes are needed.
    incomplete,
    /// Part of a frame was consumed.
    part,
    /// A frame was consumed; its message continues in the next frame.
    fragment,
    message,
    ping,
    pong,
    close,
    /// The server violated the protocol. Nothing more can be read.
    fault,
  };
  struct Item {
    Kind kind = Kind::incomplete;
    /// Number of input bytes consumed.
    size_t consumed = 0;
    /// View of the input or of the reader's buffer, valid until the next call.
    Bytes payload;
    bool is_text = false;
    /// Code of a received close frame, or the code to answer a protocol error.
    uint16_t close_code = 0;
    /// Description of the protocol error.
    std::string_view fault;
  };

  /// `max_message`: maximum message size in bytes, over all its fragments.
  explicit MessageReader(size_t max_message) : max_message_(max_message) {}

  Item next(Bytes input);
  /// Size of the current message in bytes so far, including the outstanding part of its current frame.
  [[nodiscard]] size_t expected() const { return message_.size() + static_cast<size_t>(left_); }
  /// Marks the last item as processed and releases the memory of a long message.
  void release();
  /// Like release(), but returns the message without copying it.
  std::vector<uint8_t> take(const Item& item);
  /// Skips messages regardless of their length from now on. Control frames are still reported.
  void skip_messages();

 private:
  struct Header {
    bool final = false;
    Opcode opcode = Opcode::continuation;
    size_t header_bytes = 0;
    uint64_t payload_bytes = 0;
  };
  [[nodiscard]] static std::optional<Header> read_header(Bytes input);
  [[nodiscard]] std::optional<Item> refuse(const Header& header, Bytes input) const;
  static Item control(const Header& header, Bytes payload, size_t consumed);
  void begin(const Header& header);
  Item go_on(Bytes input);
  [[nodiscard]] static Item whole(Opcode opcode, Bytes payload, size_t consumed);

  size_t max_message_;
  /// Received part of a message that is not contiguous in the input.
  std::vector<uint8_t> message_;
  /// Opcode of the current message.
  std::optional<Opcode> joining_;
  /// Outstanding payload bytes of the current frame.
  uint64_t left_ = 0;
  bool final_ = false;
  bool skipping_ = false;
};

}  // namespace carillon
