// Masking keys of WebSocket frames (RFC 6455 §10.3): unpredictable, many per system call.
#pragma once

#include <sys/random.h>

#include <array>
#include <cstdint>

namespace carillon {

class MaskSource {
 public:
  uint32_t next() {
    if (at_ == keys_.size()) {
      // getrandom(2) never fails for so few bytes after initialization. If it were interrupted, the rest
      // would be keys of the previous batch.
      static_cast<void>(::getrandom(keys_.data(), sizeof(keys_), 0));
      at_ = 0;
    }
    return keys_[at_++];
  }

 private:
  /// 256 bytes, the maximum that getrandom(2) always returns completely.
  std::array<uint32_t, 64> keys_{};
  size_t at_ = keys_.size();
};

}  // namespace carillon
