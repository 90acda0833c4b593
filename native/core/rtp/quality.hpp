// Listening and conversational quality in a number: the E-model of ITU-T G.107 reduced to what a receiver can
// measure.
#pragma once

#include <optional>

#include "core/codec/codec.hpp"
#include "core/rtp/reception_stats.hpp"

namespace carillon {

struct QualityInput {
  ReceptionSummary reception;
  LossPatternSummary pattern;
  /// Packets that came too late for the jitter buffer: not lost on the way, and yet not heard.
  uint64_t late = 0;
  double playout_delay_ms = 0;
  std::optional<double> round_trip_ms;
  Coding coding = Coding::pcmu;
  double packet_ms = kFrameMs;
};

struct Quality {
  /// Of what was expected, 0..1: what did not come, and what came too late to be heard.
  double loss_fraction = 0;
  double discard_fraction = 0;
  /// Rating factor R, 0..100, delay included; nothing without packets.
  std::optional<double> rating;
  /// Conversational, 1..4.5; nothing without packets.
  std::optional<double> mos;
  /// Without what delay takes.
  std::optional<double> listening_mos;
};

/// Ie and Bpl (ITU-T G.113 appendix I): G.711 and L16 with concealment 0 and 25.1. It has none on this scale
/// for G.722 and Opus: G.722 counts as G.711, Opus has Bpl 40, for its own concealment and FEC.
Quality estimate_quality(const QualityInput& input);

/// What a peer tells of our stream, by its reports.
struct PeerReception {
  double loss_fraction = 0;
  double jitter_ms = 0;
};

/// How we are heard: as if the peer concealed as we do and had a jitter buffer of twice the jitter, 20 ms at
/// least.
Quality estimate_sent_quality(const PeerReception& peer, std::optional<double> round_trip_ms, Coding coding);

}  // namespace carillon
