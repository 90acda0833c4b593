// Parses the response head of a WebSocket upgrade (RFC 6455 §4.1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"

namespace carillon {

class UpgradeHead {
 public:
  /// Maximum total bytes of all heads, including interim responses.
  static constexpr size_t kMaxBytes = 16 * 1024;

  /// Removes heads from the front of `inbox` and returns the first final one. Skips interim responses (100
  /// Continue, 103 Early Hints, RFC 9110 §15.2). Returns nullopt if more bytes are needed or too_long() is
  /// true.
  std::optional<std::string> take(std::vector<uint8_t>& inbox);
  [[nodiscard]] bool too_long() const { return too_long_; }

 private:
  size_t taken_ = 0;
  bool too_long_ = false;
};

}  // namespace carillon
