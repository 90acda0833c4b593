#include "net/frame_writer.hpp"

#include <utility>

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
  if (unsent_.empty() && send_queue_.empty() && (!is_media || pace_.may_send())) {
    append(opcode, payload, is_media);
    write_now(transport);
    return {};
  }
  Outcome outcome;
  if (is_media) {
    send_queue_.put_media(payload, now_);
    pace_.waits();
    // If the bot answers no pings, only sending shows the kernel that the bot reads again.
    if (unsent_.empty() && !pace_.answers() && pace_.wants_mark()) append_ping();
    outcome.degraded = send_queue_.newly_degraded();
  } else {
    outcome.refused = !send_queue_.put_control(opcode, payload);
  }
  flush(transport);
  return outcome;
}

/// Appends a frame. Pings follow media messages directly and need no separate system call.
void FrameWriter::append(Opcode opcode, Bytes payload, bool is_media) {
  append_frame(unsent_, opcode, payload, masks_.next());
  if (!is_media) return;
  pace_.sent(payload.size());
  if (pace_.wants_mark()) append_ping();
}

void FrameWriter::append_ping() { append_frame(unsent_, Opcode::ping, pace_.mark(), masks_.next()); }

void FrameWriter::ping(Transport& transport) {
  const ReadPace::Mark mark = pace_.mark();
  write(transport, Opcode::ping, mark, false);
}

void FrameWriter::answered(Transport& transport, Bytes payload) {
  pace_.answered(payload);
  flush(transport);
}

void FrameWriter::observe(int fd) {
  if (pace_.answers()) return;
  if (const std::optional<PeerWindow> peer = peer_window_of(fd)) {
    pace_.observe(peer->window, peer->unacknowledged);
  }
}

uint64_t FrameWriter::take_gap() {
  if (!send_queue_.empty()) return 0;
  return send_queue_.dropped() - std::exchange(reported_dropped_, send_queue_.dropped());
}

void FrameWriter::write_raw(Transport& transport, std::vector<uint8_t> bytes) {
  unsent_ = std::move(bytes);
  write_now(transport);
}

/// Writes the current frame. Returns true when it was sent completely. Connection errors are detected when
/// reading.
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
    const std::optional<SendQueue::Item> item = send_queue_.take(pace_.may_send());
    if (!item) return;
    append(item->opcode, item->payload, item->is_media);
  }
}

}  // namespace carillon
