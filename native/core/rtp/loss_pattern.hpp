// Bursts and gaps of packets that were not heard, lost or discarded: RFC 3611 §4.7.2.
#pragma once

#include <cstdint>

namespace carillon {

struct LossPatternSummary {
  /// Shares of packets that were not heard, within bursts and within gaps: 0..1.
  double burst_density = 0;
  double gap_density = 0;
  /// Mean lengths, in packets. Without a burst there is one gap.
  double burst_packets = 0;
  double gap_packets = 0;
  /// Mean run of packets that were not heard, 0 without any.
  double mean_run = 0;
};

/// A burst begins and ends with a packet that was not heard, has more than one of them, and fewer than
/// kGapMin that were heard between any two. All else are gaps.
class LossPattern {
 public:
  static constexpr uint64_t kGapMin = 16;

  /// The next packet of the sequence.
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
  /// What was open is a burst, or a packet of a gap.
  void close();

  Part open_;                // from a loss to the latest one
  uint64_t since_loss_ = 0;  // heard behind it
  Part bursts_;
  uint64_t burst_count_ = 0;
  Part gaps_;
  uint64_t runs_ = 0;
};

}  // namespace carillon
