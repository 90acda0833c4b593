#include "core/websocket/frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/websocket/utf8.hpp"

namespace carillon {

namespace {

constexpr uint8_t kFinal = 0x80;
constexpr uint8_t kReserved = 0x70;
constexpr uint8_t kOpcode = 0x0f;
constexpr uint8_t kMasked = 0x80;
constexpr uint8_t kLength = 0x7f;
constexpr uint8_t kLength16 = 126;
constexpr uint8_t kLength64 = 127;
/// Buffer size above which memory is released after a message.
constexpr size_t kKeptBytes = 16 * 1024;
constexpr size_t kMaskBytes = 4;

/// Writes the masked `payload` to `out` (§5.3), eight bytes at a time.
void mask_into(uint8_t* out, Bytes payload, uint32_t mask) {
  const uint64_t wide = (uint64_t{mask} << 32) | mask;
  size_t at = 0;
  for (; at + sizeof(wide) <= payload.size(); at += sizeof(wide)) {
    uint64_t word = 0;
    std::memcpy(&word, payload.data() + at, sizeof(word));
    word ^= wide;
    std::memcpy(out + at, &word, sizeof(word));
  }
  std::array<uint8_t, kMaskBytes> key;
  std::memcpy(key.data(), &mask, sizeof(mask));
  for (; at < payload.size(); ++at) out[at] = static_cast<uint8_t>(payload[at] ^ key[at % kMaskBytes]);
}

bool is_control(Opcode opcode) { return static_cast<uint8_t>(opcode) >= 8; }

bool is_known(uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

/// Returns true if the code is allowed in a close frame (§7.4).
bool may_be_sent(uint16_t code) {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

MessageReader::Item fault(uint16_t code, std::string_view what) {
  MessageReader::Item item;
  item.kind = MessageReader::Kind::fault;
  item.close_code = code;
  item.fault = what;
  return item;
}

}  // namespace

void append_frame(std::vector<uint8_t>& out, Opcode opcode, Bytes payload, uint32_t mask) {
  const size_t from = out.size();
  const size_t length = payload.size();
  const size_t extended = length < kLength16 ? 0 : (length <= 0xffff ? 2 : 8);
  out.resize(from + 2 + extended + kMaskBytes + length);
  uint8_t* const frame = out.data() + from;
  frame[0] = static_cast<uint8_t>(kFinal | static_cast<uint8_t>(opcode));
  if (extended == 0) {
    frame[1] = static_cast<uint8_t>(kMasked | length);
  } else {
    frame[1] = kMasked | (extended == 2 ? kLength16 : kLength64);
    for (size_t i = 0; i < extended; ++i) {
      frame[2 + i] = static_cast<uint8_t>(length >> (8 * (extended - 1 - i)));
    }
  }
  std::memcpy(frame + 2 + extended, &mask, kMaskBytes);
  mask_into(frame + 2 + extended + kMaskBytes, payload, mask);
}

std::vector<uint8_t> close_payload(uint16_t code, std::string_view reason) {
  const std::string_view fits = reason.substr(0, kMaxControlPayload - 2);
  std::vector<uint8_t> payload(2 + fits.size());
  write_u16(payload, 0, code);
  std::copy(fits.begin(), fits.end(), payload.begin() + 2);
  return payload;
}

std::optional<MessageReader::Header> MessageReader::read_header(Bytes input) {
  if (input.size() < 2) return std::nullopt;
  Header header;
  header.final = (input[0] & kFinal) != 0;
  header.opcode = static_cast<Opcode>(input[0] & kOpcode);
  header.payload_bytes = input[1] & kLength;
  const size_t extended = header.payload_bytes == kLength16 ? 2 : (header.payload_bytes == kLength64 ? 8 : 0);
  header.header_bytes = 2 + extended;
  if (input.size() < header.header_bytes) return std::nullopt;
  if (extended > 0) {
    header.payload_bytes = 0;
    for (size_t i = 0; i < extended; ++i) header.payload_bytes = (header.payload_bytes << 8) | input[2 + i];
  }
  return header;
}

/// Detects errors in the header before the payload arrives.
std::optional<MessageReader::Item> MessageReader::refuse(const Header& header, Bytes input) const {
  using close_code::kProtocolError;
  if ((input[0] & kReserved) != 0) return fault(kProtocolError, "a reserved bit is set");
  if ((input[1] & kMasked) != 0) return fault(kProtocolError, "a server must not mask its frames");
  if (!is_known(static_cast<uint8_t>(header.opcode))) return fault(kProtocolError, "unknown opcode");
  if (is_control(header.opcode)) {
    if (!header.final) return fault(kProtocolError, "a control frame is fragmented");
    if (header.payload_bytes > kMaxControlPayload)
      return fault(kProtocolError, "a control frame is too long");
    return std::nullopt;
  }
  if (skipping_) return std::nullopt;
  if (joining_ && header.opcode != Opcode::continuation) {
    return fault(kProtocolError, "a message began before the previous one ended");
  }
  if (!joining_ && header.opcode == Opcode::continuation) {
    return fault(kProtocolError, "a continuation frame without a message");
  }
  if (header.payload_bytes > max_message_ - message_.size()) {
    return fault(close_code::kTooBig, "a message of the application exceeded the limit");
  }
  return std::nullopt;
}

MessageReader::Item MessageReader::control(const Header& header, Bytes payload, size_t consumed) {
  Item item;
  item.consumed = consumed;
  item.payload = payload;
  if (header.opcode != Opcode::close) {
    item.kind = header.opcode == Opcode::ping ? Kind::ping : Kind::pong;
    return item;
  }
  item.kind = Kind::close;
  item.close_code = close_code::kNone;
  if (payload.empty()) return item;
  if (payload.size() == 1) return fault(close_code::kProtocolError, "a close frame with an incomplete code");
  item.close_code = read_u16(payload, 0);
  item.payload = payload.subspan(2);
  if (!may_be_sent(item.close_code)) {
    return fault(close_code::kProtocolError, "a close frame with an invalid code");
  }
  if (!is_utf8(item.payload)) return fault(close_code::kInvalidData, "a close reason is not UTF-8");
  return item;
}

MessageReader::Item MessageReader::whole(Opcode opcode, Bytes payload, size_t consumed) {
  Item item;
  item.kind = Kind::message;
  item.consumed = consumed;
  item.payload = payload;
  item.is_text = opcode == Opcode::text;
  if (item.is_text && !is_utf8(payload)) {
    return fault(close_code::kInvalidData, "a text message of the application was not UTF-8");
  }
  return item;
}

/// Begins a frame whose payload is consumed as it arrives.
void MessageReader::begin(const Header& header) {
  left_ = header.payload_bytes;
  final_ = header.final;
  if (!joining_) joining_ = header.opcode;
  if (skipping_) return;
  // Reserve the exact size of the frame. For many small fragments, grow by doubling, up to the limit.
  const size_t needed = expected();
  if (needed > message_.capacity()) {
    message_.reserve(message_.empty() ? needed
                                      : std::min(std::max(needed, 2 * message_.capacity()), max_message_));
  }
}

MessageReader::Item MessageReader::go_on(Bytes input) {
  const auto count = static_cast<size_t>(std::min<uint64_t>(left_, input.size()));
  if (!skipping_)
    message_.insert(message_.end(), input.begin(), input.begin() + static_cast<std::ptrdiff_t>(count));
  left_ -= count;
  Item item;
  item.kind = Kind::part;
  item.consumed = count;
  if (left_ > 0) return item;
  if (!final_) {
    item.kind = Kind::fragment;
    return item;
  }
  const Opcode opcode = *std::exchange(joining_, std::nullopt);
  return skipping_ ? item : whole(opcode, message_, count);
}

MessageReader::Item MessageReader::next(Bytes input) {
  if (left_ > 0) return input.empty() ? Item{} : go_on(input);
  release();
  const std::optional<Header> header = read_header(input);
  if (!header) return {};
  if (const std::optional<Item> refusal = refuse(*header, input)) return *refusal;
  const Bytes rest = input.subspan(header->header_bytes);
  const bool complete = rest.size() >= header->payload_bytes;
  if (complete && (is_control(header->opcode) || (!joining_ && header->final && !skipping_))) {
    const Bytes payload = rest.first(static_cast<size_t>(header->payload_bytes));
    const size_t consumed = header->header_bytes + payload.size();
    return is_control(header->opcode) ? control(*header, payload, consumed)
                                      : whole(header->opcode, payload, consumed);
  }
  if (is_control(header->opcode)) return {};
  begin(*header);
  Item item = go_on(rest);
  item.consumed += header->header_bytes;
  return item;
}

void MessageReader::release() {
  if (joining_) return;
  message_.clear();
  if (message_.capacity() > kKeptBytes) std::vector<uint8_t>().swap(message_);
}

std::vector<uint8_t> MessageReader::take(const Item& item) {
  if (item.payload.data() == message_.data() && !message_.empty()) return std::exchange(message_, {});
  return {item.payload.begin(), item.payload.end()};
}

void MessageReader::skip_messages() {
  skipping_ = true;
  std::vector<uint8_t>().swap(message_);
}

}  // namespace carillon
