// `media` messages on their way from a media thread to the thread of the stream sockets.
#pragma once

#include "core/stream/media_feed.hpp"
#include "engine/record_ring.hpp"

namespace carillon {

class SocketFeed final : public MediaFeed {
 public:
  /// 2 MiB hold what 300 streams in L16 at 8 kHz say in a tenth of a second.
  static constexpr size_t kCapacity = size_t{2} << 20;

  void media(SocketHandle socket, Bytes message) override { ring_.put({0, 0, 0, socket.value()}, message); }

  RecordRing& ring() { return ring_; }

 private:
  RecordRing ring_{kCapacity};
};

}  // namespace carillon
