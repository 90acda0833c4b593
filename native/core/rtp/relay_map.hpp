// Maps sequence numbers and timestamps of a received stream to those of a sent stream. Relayed packets keep
// their order, spacing and losses.
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

  /// Maps the packet with this extended sequence number and timestamp to `to`. Earlier packets are no longer
  /// relayed.
  void begin(int64_t sequence, RtpTimestamp timestamp, Place to);

  /// Returns the mapped position, or nullopt if the packet precedes the start or is too old to be mapped.
  [[nodiscard]] std::optional<Place> place_of(int64_t sequence, RtpTimestamp timestamp);

  /// Excludes a packet, so that the sent stream has no sequence gap for it.
  void leave_out(int64_t sequence);

 private:
  /// Number of excluded packets that are remembered. Older packets cannot be mapped.
  static constexpr size_t kRemembered = 64;

  int64_t first_ = 0;
  int64_t newest_ = 0;
  Place to_;
  RtpTimestamp first_timestamp_;
  size_t left_out_count_ = 0;
  /// Low bits of the excluded sequence numbers.
  std::array<uint32_t, kRemembered> left_out_{};
};

}  // namespace carillon
