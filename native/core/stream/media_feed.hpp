// Where the `media` messages of a stream go that has a socket of its own.
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/handles.hpp"

namespace carillon {

class MediaFeed {
 public:
  virtual ~MediaFeed() = default;
  /// `message` as MediaMessageWriter writes it; valid during the call only.
  virtual void media(SocketHandle socket, Bytes message) = 0;
};

}  // namespace carillon
