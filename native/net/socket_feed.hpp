// Queue of `media` messages from a media thread to a stream socket thread.
#pragma once

#include "core/stream/media_feed.hpp"
#include "engine/record_ring.hpp"

namespace carillon {

class SocketFeed final : public MediaFeed {
 public:
  /// 2 MiB hold 0.1 s of 300 streams in L16 at 8 kHz.
  static constexpr size_t kCapacity = size_t{2} << 20;

  void media(SocketHandle socket, Bytes message) override { ring_.put({0, 0, 0, socket.value()}, message); }

  RecordRing& ring() { return ring_; }

 private:
  RecordRing ring_{kCapacity};
};

}  // namespace carillon
