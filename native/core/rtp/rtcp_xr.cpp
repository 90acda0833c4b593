#include "core/rtp/rtcp_xr.hpp"

#include <algorithm>

#include "core/rtp/loss_pattern.hpp"

namespace carillon {

namespace {

constexpr size_t kXrHeaderBytes = 8;     // including the sender's SSRC
constexpr size_t kBlockHeaderBytes = 4;  // type, type-specific, length in words
constexpr uint8_t kVoipMetricsBlock = 7;
constexpr size_t kMetricsBlockBytes = kVoipMetricsBytes - kXrHeaderBytes;
/// Enhanced concealment and an adaptive jitter buffer of unspecified rate (§4.7.6).
constexpr uint8_t kReceiverConfiguration = 0b10'11'0000;

VoipMetrics read_metrics(Bytes block) {
  VoipMetrics out;
  out.ssrc = read_u32(block, 4);
  out.loss_rate = block[8];
  out.discard_rate = block[9];
  out.burst_density = block[10];
  out.gap_density = block[11];
  out.burst_ms = read_u16(block, 12);
  out.gap_ms = read_u16(block, 14);
  out.round_trip_ms = read_u16(block, 16);
  out.end_system_ms = read_u16(block, 18);
  out.rating = block[24];
  out.listening_mos = block[26];
  out.conversational_mos = block[27];
  out.buffer_ms = read_u16(block, 30);
  out.buffer_max_ms = read_u16(block, 32);
  return out;
}

}  // namespace

void write_voip_metrics(uint32_t our_ssrc, const VoipMetrics& metrics, std::span<uint8_t> out) {
  std::ranges::fill(out.first(kVoipMetricsBytes), uint8_t{0});
  out[0] = 0x80;
  out[1] = kExtendedReport;
  write_u16(out, 2, kVoipMetricsBytes / 4 - 1);
  write_u32(out, 4, our_ssrc);
  const std::span<uint8_t> block = out.subspan(kXrHeaderBytes, kMetricsBlockBytes);
  block[0] = kVoipMetricsBlock;
  write_u16(block, 2, kMetricsBlockBytes / 4 - 1);
  write_u32(block, 4, metrics.ssrc);
  block[8] = metrics.loss_rate;
  block[9] = metrics.discard_rate;
  block[10] = metrics.burst_density;
  block[11] = metrics.gap_density;
  write_u16(block, 12, metrics.burst_ms);
  write_u16(block, 14, metrics.gap_ms);
  write_u16(block, 16, metrics.round_trip_ms);
  write_u16(block, 18, metrics.end_system_ms);
  // Signal, noise and echo levels are not measured.
  block[20] = block[21] = block[22] = VoipMetrics::kUnknown;
  block[23] = static_cast<uint8_t>(LossPattern::kGapMin);
  block[24] = metrics.rating;
  block[25] = VoipMetrics::kUnknown;
  block[26] = metrics.listening_mos;
  block[27] = metrics.conversational_mos;
  block[28] = kReceiverConfiguration;
  write_u16(block, 30, metrics.buffer_ms);
  write_u16(block, 32, metrics.buffer_max_ms);
  write_u16(block, 34, metrics.buffer_max_ms);
}

bool read_extended_report(Bytes packet, uint32_t our_ssrc, std::optional<VoipMetrics>& found) {
  if (packet.size() < kXrHeaderBytes) return false;
  Bytes blocks = packet.subspan(kXrHeaderBytes);
  while (!blocks.empty()) {
    if (blocks.size() < kBlockHeaderBytes) return false;
    const size_t bytes = size_t{4} * (read_u16(blocks, 2) + size_t{1});
    if (bytes > blocks.size()) return false;
    if (blocks[0] == kVoipMetricsBlock && bytes == kMetricsBlockBytes) {
      const VoipMetrics metrics = read_metrics(blocks.first(bytes));
      if (metrics.ssrc == our_ssrc) found = metrics;
    }
    blocks = blocks.subspan(bytes);
  }
  return true;
}

}  // namespace carillon
