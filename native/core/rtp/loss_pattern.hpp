// Burst and gap statistics of lost or discarded packets (RFC 3611 §4.7.2).
#pragma once

#include <cstdint>

namespace carillon {

struct LossPatternSummary {
  /// Fractions (0..1) of lost or discarded packets within bursts and within gaps.
  double burst_density = 0;
  double gap_density = 0;
  /// Mean lengths in packets. Without a burst there is a single gap.
  double burst_packets = 0;
  double gap_packets = 0;
  /// Mean run of consecutive lost or discarded packets. 0 without losses.
  double mean_run = 0;
};

/// A burst starts and ends with a lost or discarded packet and contains at least two of them. Fewer than
/// kGapMin received packets lie between any two. All other packets belong to gaps.
class LossPattern {
 public:
  static constexpr uint64_t kGapMin = 16;

  /// Adds the next packet of the sequence. `heard`: received and not discarded.
  void add(bool heard) {
    if (heard) {
      ++since_loss_;
    } else {
      add_loss();
    }
  }

  [[nodiscard]] LossPatternSummary summary() const;

 private:
  struct Part {
    uint64_t packets = 0;
    uint64_t unheard = 0;
  };

  void add_loss();
  /// Closes the open part as a burst, or as an isolated loss in a gap.
  void close();

  Part open_;                // from a loss to the latest one
  uint64_t since_loss_ = 0;  // packets received since then
  Part bursts_;
  uint64_t burst_count_ = 0;
  Part gaps_;
  uint64_t runs_ = 0;
};

}  // namespace carillon
