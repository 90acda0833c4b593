// RTCP extended reports with VoIP metrics (RFC 3611 §4.7).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/bytes.hpp"

namespace carillon {

/// VoIP metrics. Fractions in 1/256, times in ms, scores times ten; 127: unknown.
struct VoipMetrics {
  static constexpr uint8_t kUnknown = 127;

  uint32_t ssrc = 0;  // reported stream
  uint8_t loss_rate = 0;
  uint8_t discard_rate = 0;
  uint8_t burst_density = 0;
  uint8_t gap_density = 0;
  uint16_t burst_ms = 0;
  uint16_t gap_ms = 0;
  uint16_t round_trip_ms = 0;
  uint16_t end_system_ms = 0;
  uint8_t rating = kUnknown;  // R factor
  uint8_t listening_mos = kUnknown;
  uint8_t conversational_mos = kUnknown;
  uint16_t buffer_ms = 0;
  uint16_t buffer_max_ms = 0;

  friend bool operator==(const VoipMetrics&, const VoipMetrics&) = default;
};

inline constexpr uint8_t kExtendedReport = 207;
inline constexpr size_t kVoipMetricsBytes = 44;  // length of the whole packet

/// Writes the packet with our SSRC. `out` must hold kVoipMetricsBytes bytes.
void write_voip_metrics(uint32_t our_ssrc, const VoipMetrics& metrics, std::span<uint8_t> out);

/// Reads one XR packet and stores the VoIP metrics about `our_ssrc`, if present. Returns false if its blocks
/// are malformed.
bool read_extended_report(Bytes packet, uint32_t our_ssrc, std::optional<VoipMetrics>& found);

}  // namespace carillon
