// Masking keys of WebSocket frames (RFC 6455 §10.3): unpredictable, one system call for many of them.
#pragma once

#include <sys/random.h>

#include <array>
#include <cstdint>

namespace carillon {

class MaskSource {
 public:
  uint32_t next() {
    if (at_ == keys_.size()) {
      // The kernel's pool never fails for so few bytes once it is initialised (getrandom(2)); should it be
      // cut short, the rest are keys of the round before.
      static_cast<void>(::getrandom(keys_.data(), sizeof(keys_), 0));
      at_ = 0;
    }
    return keys_[at_++];
  }

 private:
  /// 256 bytes are the most that getrandom(2) hands out in one piece whatever happens.
  std::array<uint32_t, 64> keys_{};
  size_t at_ = keys_.size();
};

}  // namespace carillon
