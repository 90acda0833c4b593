#include "core/rtp/quality.hpp"

#include <algorithm>

namespace carillon {

namespace {

constexpr double kDefaultRating = 93.2;  // G.107 with all defaults
constexpr double kEquipmentImpairment = 0;
constexpr double kLossRobustness = 25.1;
constexpr double kPacketTimeMs = 20;

/// Delay impairment; the knee lies where conversation starts to suffer (G.107 simplified form).
double delay_impairment(double one_way_ms) {
  constexpr double knee_ms = 177.3;
  const double above = one_way_ms > knee_ms ? 0.11 * (one_way_ms - knee_ms) : 0;
  return 0.024 * one_way_ms + above;
}

/// G.107 annex B: rating factor R to mean opinion score.
double opinion_score(double rating) {
  if (rating <= 0) return 1;
  if (rating >= 100) return 4.5;
  return std::max(1.0, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6);
}

}  // namespace

Quality estimate_quality(const QualityInput& input) {
  Quality quality;
  const ReceptionSummary& reception = input.reception;
  if (reception.expected == 0 || reception.received == 0) return quality;

  const auto expected = static_cast<double>(reception.expected);
  quality.loss_fraction = std::min(1.0, static_cast<double>(reception.lost + input.late) / expected);

  // BurstR: measured mean run of losses over what random loss of the same rate would give.
  double burst_ratio = 1;
  if (reception.mean_loss_burst > 0 && quality.loss_fraction < 1) {
    burst_ratio = std::max(1.0, reception.mean_loss_burst * (1 - quality.loss_fraction));
  }
  const double loss_percent = 100 * quality.loss_fraction;
  const double equipment = kEquipmentImpairment + (95 - kEquipmentImpairment) * loss_percent /
                                                      (loss_percent / burst_ratio + kLossRobustness);
  const double one_way_ms = input.round_trip_ms.value_or(0) / 2 + input.playout_delay_ms + kPacketTimeMs;
  quality.mos = opinion_score(kDefaultRating - delay_impairment(one_way_ms) - equipment);
  return quality;
}

}  // namespace carillon
