// The head of the answer to an upgrade (RFC 6455 §4.1), out of the bytes that have come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"

namespace carillon {

class UpgradeHead {
 public:
  /// Of all heads that may come, interim ones included.
  static constexpr size_t kMaxBytes = 16 * 1024;

  /// Takes heads off the front of `inbox`. The first that is not interim (100 Continue, 103 Early Hints, RFC
  /// 9110 §15.2) is given back; nothing: more bytes are needed, or too_long().
  std::optional<std::string> take(std::vector<uint8_t>& inbox);
  [[nodiscard]] bool too_long() const { return too_long_; }

 private:
  size_t taken_ = 0;
  bool too_long_ = false;
};

}  // namespace carillon
