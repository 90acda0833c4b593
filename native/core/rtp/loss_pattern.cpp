#include "core/rtp/loss_pattern.hpp"

#include <algorithm>

namespace carillon {

void LossPattern::close() {
  const bool burst = open_.unheard > 1;
  Part& part = burst ? bursts_ : gaps_;
  part.packets += open_.packets;
  part.unheard += open_.unheard;
  if (burst) ++burst_count_;
  open_ = {};
}

void LossPattern::add_loss() {
  if (since_loss_ > 0 || open_.packets == 0) ++runs_;
  if (open_.packets == 0 || since_loss_ >= kGapMin) {
    close();
    gaps_.packets += since_loss_;
  } else {
    open_.packets += since_loss_;
  }
  ++open_.packets;
  ++open_.unheard;
  since_loss_ = 0;
}

LossPatternSummary LossPattern::summary() const {
  LossPattern ended = *this;
  ended.close();
  ended.gaps_.packets += since_loss_;
  const auto ratio = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const uint64_t gap_count = std::max<uint64_t>(1, ended.burst_count_);
  return {
      .burst_density = ratio(ended.bursts_.unheard, ended.bursts_.packets),
      .gap_density = ratio(ended.gaps_.unheard, ended.gaps_.packets),
      .burst_packets = ratio(ended.bursts_.packets, ended.burst_count_),
      .gap_packets = ratio(ended.gaps_.packets, gap_count),
      .mean_run = ratio(ended.bursts_.unheard + ended.gaps_.unheard, runs_),
  };
}

}  // namespace carillon
