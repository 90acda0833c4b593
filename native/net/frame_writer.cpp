#include "net/frame_writer.hpp"

#include "core/stream/media_message.hpp"

namespace carillon {

void FrameWriter::number(std::span<uint8_t> text) {
  constexpr std::string_view kHead = MediaMessageWriter::kHead;
  if (text.size() < kHead.size()) return;
  uint32_t rest = sequence_number_++;
  size_t at = kHead.size();
  do {
    text[--at] = static_cast<uint8_t>('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
}

FrameWriter::Outcome FrameWriter::write(Transport& transport, Opcode opcode, Bytes payload, bool is_media) {
  if (unsent_.empty() && send_queue_.empty()) {
    append_frame(unsent_, opcode, payload, masks_.next());
    write_now(transport);
    return {};
  }
  if (!is_media) return {0, !send_queue_.put_control(opcode, payload)};
  send_queue_.put_media(payload);
  return {send_queue_.newly_degraded(), false};
}

void FrameWriter::write_raw(Transport& transport, std::vector<uint8_t> bytes) {
  unsent_ = std::move(bytes);
  write_now(transport);
}

/// True when the frame in hand has left. An error of the connection shows when it is read.
bool FrameWriter::write_now(Transport& transport) {
  while (unsent_from_ < unsent_.size()) {
    const IoResult result = transport.write(Bytes(unsent_).subspan(unsent_from_));
    if (result.kind != IoResult::Kind::done) {
      if (result.kind == IoResult::Kind::failed || result.kind == IoResult::Kind::ended) break;
      return false;
    }
    unsent_from_ += result.bytes;
  }
  unsent_.clear();
  unsent_from_ = 0;
  return true;
}

void FrameWriter::flush(Transport& transport) {
  while (write_now(transport)) {
    const std::optional<SendQueue::Item> item = send_queue_.take();
    if (!item) return;
    append_frame(unsent_, item->opcode, item->payload, masks_.next());
  }
}

}  // namespace carillon
