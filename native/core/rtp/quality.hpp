// Listening and conversational quality estimates: the ITU-T G.107 E-model reduced to parameters that a
// receiver can measure.
#pragma once

#include <optional>

#include "core/codec/codec.hpp"
#include "core/rtp/reception_stats.hpp"

namespace carillon {

struct QualityInput {
  ReceptionSummary reception;
  LossPatternSummary pattern;
  /// Packets that arrived too late for the jitter buffer: received but discarded.
  uint64_t late = 0;
  double playout_delay_ms = 0;
  std::optional<double> round_trip_ms;
  Coding coding = Coding::pcmu;
  double packet_ms = kFrameMs;
};

struct Quality {
  /// Fractions (0..1) of expected packets: lost in the network, and discarded because they arrived too late.
  double loss_fraction = 0;
  double discard_fraction = 0;
  /// R factor, 0..100, including delay. Empty without packets.
  std::optional<double> rating;
  /// Conversational MOS, 1..4.5. Empty without packets.
  std::optional<double> mos;
  /// Listening MOS, without the delay impairment.
  std::optional<double> listening_mos;
};

/// Estimates reception quality. Ie and Bpl follow ITU-T G.113 appendix I: 0 and 25.1 for G.711 and L16 with
/// concealment. G.722 and Opus have no value on this scale: G.722 uses the G.711 values, and Opus uses Bpl 40
/// for its concealment and FEC.
Quality estimate_quality(const QualityInput& input);

/// Reception of our stream according to the peer's reports.
struct PeerReception {
  double loss_fraction = 0;
  double jitter_ms = 0;
};

/// Estimates the quality that the peer hears. Assumes our concealment and a jitter buffer of twice the
/// jitter, at least 20 ms.
Quality estimate_sent_quality(const PeerReception& peer, std::optional<double> round_trip_ms, Coding coding);

}  // namespace carillon
