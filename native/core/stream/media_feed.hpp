// Where the `media` messages of a stream go that has a socket of its own.
#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"

namespace carillon {

class MediaFeed {
 public:
  virtual ~MediaFeed() = default;
  /// `message` as MediaMessageWriter writes it; valid during the call only.
  virtual void media(uint32_t socket, Bytes message) = 0;
};

}  // namespace carillon
