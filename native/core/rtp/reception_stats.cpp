#include "core/rtp/reception_stats.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/frame.hpp"

namespace carillon {

namespace {
constexpr int64_t kWindow = 64;
/// Larger sequence steps are a restart or a stray packet, not loss or reordering (RFC 3550 A.1).
constexpr int64_t kMaxDropout = 3000;
constexpr int64_t kMaxMisorder = 100;
/// Gain of the jitter estimator (RFC 3550 A.8).
constexpr double kJitterGain = 1.0 / 16.0;
/// Change of the transit time from which the sender has set its timestamps forward or back. Counted as
/// jitter, such a change would distort the estimate for seconds.
constexpr Nanos kNewTimeline = 5 * kSecond;
}  // namespace

bool ReceptionStats::remember(int64_t sequence) {
  const int64_t highest = sequence_.highest();
  const int64_t age = highest - sequence;
  if (age >= kWindow) return true;  // outside the window: counted as new
  const uint64_t bit = uint64_t{1} << age;
  if ((seen_window_ & bit) != 0) return false;
  seen_window_ |= bit;
  return true;
}

bool ReceptionStats::far_from_sequence(uint16_t sequence) const {
  if (!sequence_.started()) return false;
  const int64_t step = sequence_.peek(sequence) - sequence_.highest();
  return step > kMaxDropout || step < -kMaxMisorder;
}

void ReceptionStats::observe_transit(uint32_t timestamp, Nanos arrival) {
  const auto arrival_units = static_cast<uint32_t>(clock_.in(arrival).count());
  const uint32_t transit = arrival_units - timestamp;
  if (has_transit_) {
    const auto difference = std::abs(static_cast<double>(static_cast<int32_t>(transit - transit_)));
    const bool goes_on = difference < static_cast<double>(clock_.in(kNewTimeline).count());
    if (goes_on) jitter_ += (difference - jitter_) * kJitterGain;
  }
  has_transit_ = true;
  transit_ = transit;
}

/// Advances the window. Packets that leave it are final: heard or lost.
void ReceptionStats::move_window(int64_t step) {
  const int64_t known = sequence_.highest() - step - base_ + 1;  // before
  for (int64_t i = 0; i < step; ++i) {
    const uint64_t oldest = uint64_t{1} << (kWindow - 1);
    // Initially the window extends before the first packet.
    if (known + i >= kWindow) pattern_.add((seen_window_ & ~discarded_window_ & oldest) != 0);
    seen_window_ <<= 1;
    discarded_window_ <<= 1;
  }
}

void ReceptionStats::discarded(int64_t sequence) {
  const int64_t age = sequence_.highest() - sequence;
  if (age >= 0 && age < kWindow) discarded_window_ |= uint64_t{1} << age;
}

ReceptionStats::Seen ReceptionStats::receive(const RtpPacket& packet, Nanos arrival,
                                             bool timestamp_is_audio) {
  bool restarted = false;
  if (far_from_sequence(packet.sequence)) {
    if (packet.sequence != suspected_next_) {
      suspected_next_ = static_cast<uint16_t>(packet.sequence + 1);
      return {sequence_.peek(packet.sequence), Verdict::suspect};
    }
    restart();
    restarted = true;
  }
  suspected_next_ = -1;

  const bool first = !sequence_.started();
  const int64_t previous = sequence_.highest();
  const int64_t sequence = sequence_.extend(packet.sequence);
  if (first) {
    base_ = sequence;
    seen_window_ = 0;
    discarded_window_ = 0;
  } else if (sequence > previous) {
    const int64_t step = sequence - previous;
    move_window(step);
    if (step > 1) {
      ++loss_runs_;
      loss_in_runs_ += static_cast<uint64_t>(step - 1);
    }
  }
  base_ = std::min(base_, sequence);

  if (!remember(sequence)) {
    ++duplicates_;
    return {sequence, Verdict::duplicate};
  }
  ++received_;
  if (timestamp_is_audio) observe_transit(packet.timestamp.value(), arrival);
  return {sequence, restarted ? Verdict::restarted : Verdict::accepted};
}

void ReceptionStats::restart() {
  if (sequence_.started()) expected_before_ += static_cast<uint64_t>(sequence_.highest() - base_ + 1);
  received_before_ = received_;
  sequence_.reset();
  seen_window_ = 0;
  discarded_window_ = 0;
  has_transit_ = false;
  jitter_ = 0;
}

ReceptionSummary ReceptionStats::summary() const {
  ReceptionSummary out;
  out.received = received_;
  out.duplicates = duplicates_;
  out.expected = expected_before_;
  if (sequence_.started()) {
    const auto expected = static_cast<uint64_t>(sequence_.highest() - base_ + 1);
    const uint64_t received = received_ - received_before_;
    out.expected += expected;
    out.source_lost = expected > received ? expected - received : 0;
  }
  out.lost = out.expected > received_ ? out.expected - received_ : 0;
  out.jitter_units = jitter_;
  out.jitter_ms = jitter_ / clock_.per_ms();
  // The unwrapper starts one cycle above zero.
  if (sequence_.started()) out.highest_sequence = static_cast<uint32_t>(sequence_.highest() - 0x10000);
  if (loss_runs_ > 0)
    out.mean_loss_burst = static_cast<double>(loss_in_runs_) / static_cast<double>(loss_runs_);
  return out;
}

}  // namespace carillon
