#include "core/record/sender_clock.hpp"

#include <algorithm>

namespace carillon {

namespace {
constexpr Nanos kBlock = 2 * kSecond;
constexpr int kMinPackets = 10;
/// Gains of an alpha-beta filter, critically damped. The first blocks have a higher gain.
constexpr double kGain = 0.15;
constexpr double kDriftGain = kGain * kGain / (2 - kGain);
constexpr int kFirstBlocks = 7;
/// Difference of two consecutive blocks from the estimate that shows another network path.
constexpr Nanos kStep = 60 * kMillisecond;
/// Pause after which the estimate may have drifted away.
constexpr Nanos kPause = 10 * kSecond;

Nanos scaled(Nanos time, double factor) {
  return Nanos(static_cast<int64_t>(static_cast<double>(time.count()) * factor));
}
}  // namespace

void SenderClock::restart(Nanos transit, Nanos arrival) {
  *this = SenderClock();
  transit_ = transit;
  at_ = block_began_ = last_arrival_ = arrival;
}

Nanos SenderClock::transit_at(Nanos now) const { return transit_ + scaled(now - at_, drift_); }

void SenderClock::observe(Nanos transit, Nanos arrival) {
  if (arrival - last_arrival_ > kPause) {
    blocks_ = 0;
    block_packets_ = 0;
    stepped_ = false;
  }
  last_arrival_ = std::max(last_arrival_, arrival);
  const Nanos residual = transit - transit_at(arrival);
  if (blocks_ == 0 && residual < Nanos{}) transit_ += residual;
  if (block_packets_ == 0) {
    block_began_ = arrival;
    block_fastest_ = residual;
  }
  ++block_packets_;
  block_fastest_ = std::min(block_fastest_, residual);
  if (arrival - block_began_ >= kBlock && block_packets_ >= kMinPackets) finish_block(arrival);
}

void SenderClock::finish_block(Nanos arrival) {
  block_packets_ = 0;
  // In the first block, the estimate has followed the fastest packet.
  const Nanos residual = blocks_ == 0 ? std::max(block_fastest_, Nanos{}) : block_fastest_;
  const bool step = residual > kStep || residual < Nanos{} - kStep;
  transit_ = transit_at(arrival);
  at_ = arrival;
  if (step) {
    // A single block can be a short congestion.
    if (stepped_) {
      transit_ += residual;
      blocks_ = 1;
    }
    stepped_ = !stepped_;
    return;
  }
  stepped_ = false;
  const double gain = std::max(kGain, 1.0 / (blocks_ + 1));
  transit_ += scaled(residual, gain);
  if (blocks_ > 0) {
    const double change =
        kDriftGain * static_cast<double>(residual.count()) / static_cast<double>(kBlock.count());
    drift_ = std::clamp(drift_ + change, -kMaxDrift, kMaxDrift);
  }
  blocks_ = std::min(blocks_ + 1, kFirstBlocks);
}

}  // namespace carillon
