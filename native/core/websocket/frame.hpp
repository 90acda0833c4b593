// Frames of a WebSocket client (RFC 6455 §5): what it reads is not masked, what it writes is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"

namespace carillon {

enum class Opcode : uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

/// Status codes of a closing handshake (RFC 6455 §7.4.1).
namespace close_code {
inline constexpr uint16_t kNormal = 1000;
inline constexpr uint16_t kProtocolError = 1002;
/// Stands for "none was given"; never sent.
inline constexpr uint16_t kNone = 1005;
inline constexpr uint16_t kInvalidData = 1007;
inline constexpr uint16_t kTooBig = 1009;
}  // namespace close_code

/// Longest payload of a control frame (§5.5).
inline constexpr size_t kMaxControlPayload = 125;

/// Appends one whole frame to `out`. `mask` has to be unpredictable (§5.3).
void append_frame(std::vector<uint8_t>& out, Opcode opcode, Bytes payload, uint32_t mask);

/// Payload of a close frame; the reason is cut to what fits.
std::vector<uint8_t> close_payload(uint16_t code, std::string_view reason);

/// Takes frames off the front of what a server has sent and joins fragments to messages.
class MessageReader {
 public:
  enum class Kind : uint8_t {
    /// More bytes are needed.
    incomplete,
    /// A part of a frame was taken.
    part,
    /// A frame was taken, and its message goes on with the next.
    fragment,
    message,
    ping,
    pong,
    close,
    /// The server broke the protocol; nothing more can be read.
    fault,
  };
  struct Item {
    Kind kind = Kind::incomplete;
    /// Bytes of the input that are done with.
    size_t consumed = 0;
    /// A view into the input or into the reader, valid until the next call.
    Bytes payload;
    bool is_text = false;
    /// Of a close, or with which to answer a fault.
    uint16_t close_code = 0;
    /// Of a fault, in plain words.
    std::string_view fault;
  };

  /// `max_message`: bytes of a message, over all of its fragments.
  explicit MessageReader(size_t max_message) : max_message_(max_message) {}

  Item next(Bytes input);
  /// Bytes of the message that has begun, those of its present frame that are still to come included.
  [[nodiscard]] size_t expected() const { return message_.size() + static_cast<size_t>(left_); }
  /// The item of the last next() is done with: gives back what a long message took.
  void release();
  /// The same, but hands a message on instead of having it copied.
  std::vector<uint8_t> take(const Item& item);
  /// From now on messages are skipped, whatever they say of their length; control frames are still told.
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
  /// What has come of a message that does not stand in one piece.
  std::vector<uint8_t> message_;
  /// Opcode of the message that has begun.
  std::optional<Opcode> joining_;
  /// Of the present frame, the bytes of its payload that are still to come.
  uint64_t left_ = 0;
  bool final_ = false;
  bool skipping_ = false;
};

}  // namespace carillon
