#include "core/jitter/delay_estimator.hpp"

#include <algorithm>

namespace carillon {

namespace {
constexpr Nanos kWindow = 5 * kSecond;
/// Growth of the weight from packet to packet. A packet's relative weight halves after 40 packets (0.8 s).
constexpr float kGrowth = 1 / 0.983F;
/// Weight at which all weights are scaled down, about every 40 s.
constexpr float kHeaviest = 1e15F;
constexpr float kQuantile = 0.97F;
constexpr int64_t kWarmUp = 10;  // packets before the histogram is used
/// Packets that arrive together after a pause share one delay. Only the first one is counted.
constexpr Nanos kBurstGap = 5 * kMillisecond;
}  // namespace

Nanos DelayEstimator::base() const { return std::min(fastest_now_, fastest_before_); }

void DelayEstimator::update_base(Nanos transit, Nanos arrival) {
  if (packets_seen_ == 0) {
    window_began_ = arrival;
    fastest_now_ = fastest_before_ = transit;
    return;
  }
  if (arrival - window_began_ >= kWindow) {
    fastest_before_ = fastest_now_;
    fastest_now_ = transit;
    window_began_ = arrival;
  }
  fastest_now_ = std::min(fastest_now_, transit);
}

void DelayEstimator::count(Nanos delay) {
  // No supported delay could have played this packet in time, so it must not raise the target.
  if (delay >= kMaxDelay) return;
  const auto bin = static_cast<size_t>(delay / kBin);
  if (weight_ > kHeaviest) lighten();
  weight_ *= kGrowth;
  histogram_[bin] += weight_;
  total_ += weight_;
  if (packets_seen_ < kWarmUp) return;

  float sum = 0;
  size_t quantile = 0;
  while (quantile < kBins - 1) {
    sum += histogram_[quantile];
    if (sum >= total_ * kQuantile) break;
    ++quantile;
  }
  const Nanos wanted = (static_cast<int64_t>(quantile) + 1) * kBin + kMargin;
  target_ = std::clamp(wanted, kMinDelay, kMaxDelay);
}

/// Scales all weights down. Their ratios stay the same.
void DelayEstimator::lighten() {
  for (float& weight : histogram_) weight /= weight_;
  total_ /= weight_;
  weight_ = 1;
}

void DelayEstimator::observe(RtpTime timestamp, Nanos arrival) {
  const Nanos transit = arrival - time_of(timestamp);
  update_base(transit, arrival);
  const Nanos delay = transit - base();
  const bool in_burst = packets_seen_ > 0 && timestamp > last_timestamp_ &&
                        arrival - last_arrival_ < kBurstGap && delay < last_delay_;
  ++packets_seen_;
  if (!in_burst) count(delay);
  last_timestamp_ = timestamp;
  last_arrival_ = arrival;
  last_delay_ = delay;
}

void DelayEstimator::reset() { *this = DelayEstimator(clock_); }

}  // namespace carillon
