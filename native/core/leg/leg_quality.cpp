// Quality of a leg: periodic statistics and the metrics sent to the peer.
#include <algorithm>
#include <cmath>

#include "core/leg/leg.hpp"

namespace carillon {

namespace {

uint8_t share(double part) { return static_cast<uint8_t>(std::clamp(std::lround(part * 256), 0L, 255L)); }

uint16_t whole_ms(double ms) { return static_cast<uint16_t>(std::clamp(std::lround(ms), 0L, 0xffffL)); }

uint8_t tenths(std::optional<double> score) {
  return score ? static_cast<uint8_t>(std::lround(*score * 10)) : VoipMetrics::kUnknown;
}

/// Returns the peer's loss fraction based on the sequence numbers in its report. If they are invalid, the
/// number of sent packets is used.
double loss_at_peer(const ReportBlock& report, uint16_t first_sequence, uint64_t sent) {
  const auto lost = static_cast<double>(std::max(report.cumulative_lost, 0));
  const uint32_t expected = report.highest_sequence - first_sequence + 1;
  const bool sensible = expected > 0 && expected <= 2 * sent;
  const double whole = sensible ? expected : static_cast<double>(sent);
  return whole > 0 ? std::min(1.0, lost / whole) : 0;
}

}  // namespace

void Leg::estimate_quality_now() {
  const Quality quality = receive_.quality(rtcp_.round_trip_ms());
  has_mos_ = quality.mos.has_value();
  LegQuality out;
  out.loss_fraction = quality.loss_fraction;
  out.discard_fraction = quality.discard_fraction;
  out.mos = quality.mos.value_or(0);
  out.rating = quality.rating.value_or(-1);
  out.playout_delay_ms = in_milliseconds(receive_.playout_delay());
  const LossPatternSummary pattern = receive_.loss_pattern();
  const double packet_ms = in_milliseconds(receive_.packet_time());
  out.burst_density = pattern.burst_density;
  out.burst_ms = pattern.burst_packets * packet_ms;
  out.gap_ms = pattern.gap_packets * packet_ms;
  if (const auto& report = rtcp_.about_us()) {
    const PeerReception peer{loss_at_peer(*report, config_.sequence, send_.packets()),
                             report->jitter / static_cast<double>(send_.clock().per_ms())};
    out.peer_loss_fraction = peer.loss_fraction;
    out.peer_jitter_ms = peer.jitter_ms;
    out.peer_mos = *estimate_sent_quality(peer, rtcp_.round_trip_ms(), send_.config().coding).mos;
  }
  // The peer's own measurement is more accurate.
  if (const auto& metrics = rtcp_.metrics_about_us()) {
    if (metrics->conversational_mos != VoipMetrics::kUnknown)
      out.peer_mos = metrics->conversational_mos / 10.0;
  }
  figures_->quality.publish(out);
}

VoipMetrics Leg::voip_metrics() const {
  const Quality quality = receive_.quality(rtcp_.round_trip_ms());
  const LossPatternSummary pattern = receive_.loss_pattern();
  const double packet_ms = in_milliseconds(receive_.packet_time());
  const double buffer_ms = in_milliseconds(receive_.playout_delay());
  VoipMetrics out;
  out.ssrc = receive_.ssrc().value_or(0);
  out.loss_rate = share(quality.loss_fraction);
  out.discard_rate = share(quality.discard_fraction);
  out.burst_density = share(pattern.burst_density);
  out.gap_density = share(pattern.gap_density);
  out.burst_ms = whole_ms(pattern.burst_packets * packet_ms);
  out.gap_ms = whole_ms(pattern.gap_packets * packet_ms);
  out.round_trip_ms = whole_ms(rtcp_.round_trip_ms().value_or(0));
  out.end_system_ms = whole_ms(buffer_ms + 2 * kFrameMs);
  if (quality.rating) out.rating = static_cast<uint8_t>(std::lround(*quality.rating));
  out.listening_mos = tenths(quality.listening_mos);
  out.conversational_mos = tenths(quality.mos);
  out.buffer_ms = whole_ms(buffer_ms);
  out.buffer_max_ms = whole_ms(in_milliseconds(DelayEstimator::kMaxDelay));
  return out;
}

}  // namespace carillon
