// Destination of `media` messages for streams with their own socket.
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/handles.hpp"

namespace carillon {

class MediaFeed {
 public:
  virtual ~MediaFeed() = default;
  /// `message` is written by MediaMessageWriter and valid during the call only.
  virtual void media(SocketHandle socket, Bytes message) = 0;
};

}  // namespace carillon
