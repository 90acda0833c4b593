// From the numbers of a received stream to those of a sent one: packets that are passed on keep their order,
// their distances in time and their losses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/units.hpp"

namespace carillon {

class RelayMap {
 public:
  struct Place {
    uint16_t sequence = 0;
    RtpTimestamp timestamp;
  };

  /// The packet with this extended sequence number and timestamp becomes `to`; those before it are not passed
  /// on any more.
  void begin(int64_t sequence, RtpTimestamp timestamp, Place to);

  /// Nothing: it is of before the beginning, or so late that its place is not known.
  [[nodiscard]] std::optional<Place> place_of(int64_t sequence, RtpTimestamp timestamp);

  /// This one goes no further, and the sent stream has no hole for it.
  void leave_out(int64_t sequence);

 private:
  /// Of the last ones left out their numbers are known: packets older than these have no place.
  static constexpr size_t kRemembered = 64;

  int64_t first_ = 0;
  int64_t newest_ = 0;
  Place to_;
  RtpTimestamp first_timestamp_;
  size_t left_out_count_ = 0;
  /// Their low bits.
  std::array<uint32_t, kRemembered> left_out_{};
};

}  // namespace carillon
