#include "core/rtp/relay_map.hpp"

#include <algorithm>

namespace carillon {

void RelayMap::begin(int64_t sequence, RtpTimestamp timestamp, Place to) {
  first_ = newest_ = sequence;
  first_timestamp_ = timestamp;
  to_ = to;
  left_out_count_ = 0;
}

std::optional<RelayMap::Place> RelayMap::place_of(int64_t sequence, RtpTimestamp timestamp) {
  if (sequence < first_) return std::nullopt;
  newest_ = std::max(newest_, sequence);
  size_t before = left_out_count_;
  const auto low = static_cast<uint32_t>(sequence);
  while (before > 0 && static_cast<int32_t>(left_out_[(before - 1) % kRemembered] - low) > 0) {
    --before;
    if (left_out_count_ - before == kRemembered) return std::nullopt;
  }
  const int64_t distance = sequence - first_ - static_cast<int64_t>(before);
  const RtpTicks since(static_cast<int32_t>(timestamp.value() - first_timestamp_.value()));
  return Place{static_cast<uint16_t>(to_.sequence + distance), to_.timestamp + since};
}

void RelayMap::leave_out(int64_t sequence) {
  // A packet that arrives after its successors already has its sequence gap.
  if (sequence <= newest_) return;
  newest_ = sequence;
  left_out_[left_out_count_++ % kRemembered] = static_cast<uint32_t>(sequence);
}

}  // namespace carillon
