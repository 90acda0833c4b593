#include "core/rtp/quality.hpp"

#include <algorithm>

namespace carillon {

namespace {

constexpr double kDefaultRating = 93.2;  // G.107 with all defaults
constexpr double kEquipmentImpairment = 0;

/// Delay impairment (simplified G.107). It rises faster above the knee, where conversation begins to suffer.
double delay_impairment(double one_way_ms) {
  constexpr double knee_ms = 177.3;
  const double above = one_way_ms > knee_ms ? 0.11 * (one_way_ms - knee_ms) : 0;
  return 0.024 * one_way_ms + above;
}

/// Converts the R factor to a mean opinion score (Annex B).
double opinion_score(double rating) {
  if (rating <= 0) return 1;
  if (rating >= 100) return 4.5;
  return std::max(1.0, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6);
}

struct Impairments {
  double unheard_fraction;
  double burst_ratio;
  double one_way_ms;
};

void rate(const Impairments& of, Coding coding, Quality& quality) {
  const double percent = 100 * of.unheard_fraction;
  const double equipment =
      kEquipmentImpairment + (95 - kEquipmentImpairment) * percent /
                                 (percent / of.burst_ratio + properties_of(coding).loss_robustness);
  const double listening = kDefaultRating - equipment;
  const double rating = std::clamp(listening - delay_impairment(of.one_way_ms), 0.0, 100.0);
  quality.rating = rating;
  quality.mos = opinion_score(rating);
  quality.listening_mos = opinion_score(listening);
}

}  // namespace

Quality estimate_quality(const QualityInput& input) {
  Quality quality;
  const ReceptionSummary& reception = input.reception;
  if (reception.expected == 0 || reception.received == 0) return quality;

  const auto expected = static_cast<double>(reception.expected);
  quality.loss_fraction = std::min(1.0, static_cast<double>(reception.lost) / expected);
  quality.discard_fraction = std::min(1 - quality.loss_fraction, static_cast<double>(input.late) / expected);
  const double unheard = quality.loss_fraction + quality.discard_fraction;
  // BurstR: measured mean loss run divided by the mean run for random loss at the same rate. The runs of the
  // reception also count packets that arrived out of order, so the pattern is preferred.
  const double run = input.pattern.mean_run > 0 ? input.pattern.mean_run : reception.mean_loss_burst;
  const double burst_ratio = std::max(1.0, run * (1 - unheard));
  const double one_way_ms = input.round_trip_ms.value_or(0) / 2 + input.playout_delay_ms + input.packet_ms;
  rate({unheard, burst_ratio, one_way_ms}, input.coding, quality);
  return quality;
}

Quality estimate_sent_quality(const PeerReception& peer, std::optional<double> round_trip_ms, Coding coding) {
  Quality quality;
  quality.loss_fraction = std::clamp(peer.loss_fraction, 0.0, 1.0);
  const double one_way_ms =
      round_trip_ms.value_or(0) / 2 + kFrameMs + std::max<double>(kFrameMs, 2 * peer.jitter_ms);
  rate({quality.loss_fraction, 1, one_way_ms}, coding, quality);
  return quality;
}

}  // namespace carillon
