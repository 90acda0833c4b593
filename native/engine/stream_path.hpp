// A TCP connection of an ICE peer (RFC 6544), framed as RFC 4571: it is read by whoever accepted it, and
// written by the media thread of its leg.
#pragma once

#include <vector>

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
#include "engine/file_descriptor.hpp"

namespace carillon {

class StreamPath {
 public:
  static constexpr size_t kLengthBytes = 2;
  static constexpr size_t kMaxFrame = 2048;

  StreamPath(FileDescriptor socket, const Address& peer) : socket_(std::move(socket)), peer_(peer) {}

  [[nodiscard]] const Address& peer() const { return peer_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }

  /// One packet; dropped, as a network would, while the one before has not left whole. One thread.
  void send(Bytes packet);

 private:
  bool flush();

  FileDescriptor socket_;
  Address peer_;
  /// The rest of a packet of which a part has left.
  std::vector<uint8_t> unsent_;
};

}  // namespace carillon
