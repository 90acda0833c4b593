// Sends frames to a bot: the frame being written and the queue behind it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/websocket/frame.hpp"
#include "core/websocket/send_queue.hpp"
#include "net/mask_source.hpp"
#include "net/read_pace.hpp"
#include "net/transport.hpp"

namespace carillon {

class FrameWriter {
 public:
  /// `limits.media_messages`: one second of audio. Up to half of it may be unread by the bot, and as much
  /// waits here.
  FrameWriter(const SendQueue::Limits& limits, MaskSource& masks)
      : pace_(limits.media_messages),
        send_queue_({limits.media_messages - pace_.window(), limits.control_bytes}),
        masks_(masks) {}

  struct Outcome {
    /// Percentage of its limit that waiting media has just exceeded. 0: none.
    unsigned degraded = 0;
    /// True if too many control messages are waiting.
    bool refused = false;
  };
  /// Writes directly to the socket if the queue is empty and the bot has read most of the earlier media.
  /// Queues the message otherwise.
  Outcome write(Transport& transport, Opcode opcode, Bytes payload, bool is_media);
  /// Writes bytes without framing (the upgrade request).
  void write_raw(Transport& transport, std::vector<uint8_t> bytes);
  /// Pings and pongs that measure how far the bot has read: see ReadPace.
  void ping(Transport& transport);
  void answered(Transport& transport, Bytes payload);
  void observe(int fd);
  /// Sets the time of the messages that follow.
  void set_time(Nanos now) { now_ = now; }
  /// Continues writing when the socket is writable.
  void flush(Transport& transport);
  /// Writes the next sequence number into a message, at the space that MediaMessageWriter::kHead reserves.
  void number(std::span<uint8_t> text);

  void drop_media() { send_queue_.drop_media(); }
  [[nodiscard]] uint64_t media_dropped() const { return send_queue_.dropped(); }
  /// Returns the number of media messages dropped since the last call once the queue is empty, else 0.
  uint64_t take_gap();
  [[nodiscard]] uint32_t messages_numbered() const { return sequence_number_; }
  [[nodiscard]] bool pending() const { return !unsent_.empty(); }

 private:
  bool write_now(Transport& transport);
  void append(Opcode opcode, Bytes payload, bool is_media);
  void append_ping();

  Nanos now_{};
  ReadPace pace_;
  uint64_t reported_dropped_ = 0;
  SendQueue send_queue_;
  MaskSource& masks_;
  uint32_t sequence_number_ = 0;
  /// Unsent part of the current frame.
  std::vector<uint8_t> unsent_;
  size_t unsent_from_ = 0;
};

}  // namespace carillon
