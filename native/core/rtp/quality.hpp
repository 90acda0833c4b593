// Listening quality in one number: the E-model of ITU-T G.107 reduced to what a receiver can measure.
#pragma once

#include <optional>

#include "core/rtp/reception_stats.hpp"

namespace carillon {

struct QualityInput {
  ReceptionSummary reception;
  /// Packets that came too late for the jitter buffer: to the ear they are lost.
  uint64_t late = 0;
  double playout_delay_ms = 0;
  std::optional<double> round_trip_ms;
};

struct Quality {
  double loss_fraction = 0;   // late packets included, 0..1
  std::optional<double> mos;  // 1..4.5; nothing without packets
};

/// Values used for G.711 (ITU-T G.113 appendix I): Ie 0, Bpl 25.1 (with packet loss concealment).
Quality estimate_quality(const QualityInput& input);

}  // namespace carillon
