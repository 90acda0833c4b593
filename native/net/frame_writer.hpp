// Frames on their way to a bot: the one in hand, and what waits behind it.
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
  /// `limits.media_messages` is a second of audio: half of it may be unread by the bot, and as much waits
  /// here.
  FrameWriter(const SendQueue::Limits& limits, MaskSource& masks)
      : pace_(limits.media_messages),
        send_queue_({limits.media_messages - pace_.window(), limits.control_bytes}),
        masks_(masks) {}

  struct Outcome {
    /// Waiting media has just crossed so many percent of its limit, upwards; 0: it has not.
    unsigned degraded = 0;
    /// More control messages wait than may.
    bool refused = false;
  };
  /// Straight to the socket when nothing waits, and the bot has read most of the media before.
  Outcome write(Transport& transport, Opcode opcode, Bytes payload, bool is_media);
  /// Bytes that are no frame: the upgrade request.
  void write_raw(Transport& transport, std::vector<uint8_t> bytes);
  /// Whether the bot sends, and what: see ReadPace.
  void ping(Transport& transport);
  void answered(Transport& transport, Bytes payload);
  void observe(int fd);
  /// The socket takes bytes again.
  void flush(Transport& transport);
  /// Fills in the number of the next message; it stands where MediaMessageWriter::kHead leaves room.
  void number(std::span<uint8_t> text);

  void drop_media() { send_queue_.drop_media(); }
  [[nodiscard]] uint64_t media_dropped() const { return send_queue_.dropped(); }
  /// Media messages dropped since the last call, once nothing waits any more; else 0.
  uint64_t take_gap();
  [[nodiscard]] uint32_t messages_numbered() const { return sequence_number_; }
  [[nodiscard]] bool pending() const { return !unsent_.empty(); }

 private:
  bool write_now(Transport& transport);
  void append(Opcode opcode, Bytes payload, bool is_media);
  void append_ping();

  ReadPace pace_;
  uint64_t told_dropped_ = 0;
  SendQueue send_queue_;
  MaskSource& masks_;
  uint32_t sequence_number_ = 0;
  /// Of the frame in hand, what the socket has not taken yet.
  std::vector<uint8_t> unsent_;
  size_t unsent_from_ = 0;
};

}  // namespace carillon
