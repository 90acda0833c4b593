// TCP connection of an ICE peer (RFC 6544) with RFC 4571 framing. The accepting thread reads it; the leg's
// media thread writes to it.
#pragma once

#include <memory>
#include <vector>

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
#include "engine/file_descriptor.hpp"

namespace carillon {

class StreamPath {
 public:
  static constexpr size_t kLengthBytes = 2;
  static constexpr size_t kMaxFrame = 2048;

  /// Allocates all memory.
  StreamPath(FileDescriptor socket, const Address& peer) : socket_(std::move(socket)), peer_(peer) {
    unsent_.reserve(kLengthBytes + kMaxFrame);
  }

  [[nodiscard]] const Address& peer() const { return peer_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }

  /// Sends a packet. Drops it while the previous one has not been sent completely. Call from one thread only.
  void send(Bytes packet);
  /// Ends the connection after the data that was sent. The descriptor stays open.
  void end() const;

  /// Media thread: the next older connection of the same leg. A list that needs no separate memory.
  std::shared_ptr<StreamPath> older;

 private:
  bool flush();

  FileDescriptor socket_;
  Address peer_;
  /// Unsent rest of a partly sent packet.
  std::vector<uint8_t> unsent_;
};

}  // namespace carillon
