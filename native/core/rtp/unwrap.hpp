// Extends wrapping wire counters (RTP sequence numbers and timestamps) to 64 bits, so that they can be
// compared directly.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/base/units.hpp"

namespace carillon {

template <typename Wire>
class Unwrapper {
  static_assert(std::is_unsigned_v<Wire>);

 public:
  /// Returns the 64-bit value congruent to `wire` that is nearest to the highest value so far.
  int64_t extend(Wire wire) {
    if (!started_) {
      started_ = true;
      // Start one cycle above zero, so that values before the first one stay positive.
      highest_ = static_cast<int64_t>(wire) + kCycle;
      return highest_;
    }
    const int64_t value = peek(wire);
    if (value > highest_) highest_ = value;
    return value;
  }

  [[nodiscard]] int64_t peek(Wire wire) const {
    using Signed = std::make_signed_t<Wire>;
    const auto distance = static_cast<Signed>(static_cast<Wire>(wire - static_cast<Wire>(highest_)));
    return highest_ + distance;
  }

  [[nodiscard]] int64_t highest() const { return highest_; }
  [[nodiscard]] bool started() const { return started_; }
  void reset() { started_ = false; }

 private:
  static constexpr int64_t kCycle = int64_t{1} << (8 * sizeof(Wire));
  int64_t highest_ = 0;
  bool started_ = false;
};

using SequenceUnwrapper = Unwrapper<uint16_t>;

class TimestampUnwrapper {
 public:
  RtpTime extend(RtpTimestamp wire) { return RtpTime(unwrapper_.extend(wire.value())); }
  [[nodiscard]] RtpTime peek(RtpTimestamp wire) const { return RtpTime(unwrapper_.peek(wire.value())); }
  void reset() { unwrapper_.reset(); }

 private:
  Unwrapper<uint32_t> unwrapper_;
};

}  // namespace carillon
