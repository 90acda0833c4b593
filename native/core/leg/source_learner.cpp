#include "core/leg/source_learner.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/base/frame.hpp"

namespace carillon {

namespace {
/// Largest sequence step that loss and reordering explain.
constexpr int kMaxStep = 16;
/// Jitter tolerance between arrival time and timestamp differences.
constexpr Nanos kTimestampTolerance = 400 * kMillisecond;
/// Tolerance for a stream that continues from another address. Smaller values are harder to guess.
constexpr Nanos kContinuityTolerance = 200 * kMillisecond;
/// Time without packets after which a candidate is discarded.
constexpr Nanos kCandidateForgotten = 5 * kSecond;
/// Shortest packet duration. Bounds the number of packets sent during a gap.
constexpr Nanos kShortestPacket = 5 * kMillisecond;

/// Returns the difference between elapsed time and timestamp difference of two packets.
Nanos timestamp_error(RtpClockRate clock, uint32_t from, uint32_t to, Nanos elapsed) {
  return abs(clock.time_of(RtpTicks(static_cast<int32_t>(to - from))) - elapsed);
}
}  // namespace

SourceLearner::SourceLearner() : candidates_(std::make_unique<std::array<Candidate, kCandidates>>()) {}

void SourceLearner::expect(const ExpectedSource& expected, Nanos now) {
  const Address before = expected_.signalled;
  if (expected.receiving && !expected_.receiving) listening_since_ = now;
  expected_ = expected;
  if (believed_ && !expected.signalled.sendable()) {
    // No address (0.0.0.0 is the former notation for hold): keep the current source. Allow a change without
    // the usual wait, in case the peer has moved.
    expected_.signalled = before;
    believed_since_ = now;
  }
  if (described_at_ == kNever || expected_.signalled != before) described_at_ = now;
  if (expected_.signalled == before) return;
  candidates_->fill({});
  if (is_peer(expected_.signalled)) return;
  former_ = believed_ ? source_ : Address{};
  believed_ = false;
}

/// Returns the state after a packet. For keypad events, whose timestamp does not advance, the elapsed time is
/// used instead.
SourceLearner::Seen SourceLearner::seen(const Packet& packet, const Seen& last, Nanos now) const {
  if (packet.timestamp_runs || last.at < Nanos{})
    return {packet.ssrc, packet.timestamp, now, packet.sequence};
  const auto passed = static_cast<uint32_t>(clock_.in(now - last.at).count());
  return {packet.ssrc, last.timestamp + passed, now, packet.sequence};
}

/// Returns the candidate of a packet. If none exists, it replaces the candidate with the least proof. Ties
/// are resolved randomly, so that no packet order can reliably evict a candidate.
SourceLearner::Candidate& SourceLearner::candidate_of(const Packet& packet) {
  random_ = random_ * 1664525U + 1013904223U;
  const size_t start = random_ >> 16;
  const auto proof = [&](const Candidate& candidate) {
    if (candidate.packets == 0) return -1;
    return candidate.packets + (known_host(candidate.source) ? 1 : 0);
  };
  Candidate* weakest = nullptr;
  for (size_t i = 0; i < kCandidates; ++i) {
    Candidate& candidate = (*candidates_)[(start + i) % kCandidates];
    const bool same = candidate.packets > 0 && candidate.last.ssrc == packet.ssrc;
    if (same && candidate.source == packet.source) return candidate;
    if (weakest == nullptr || proof(candidate) < proof(*weakest)) weakest = &candidate;
  }
  *weakest = {};
  weakest->source = packet.source;
  return *weakest;
}

void SourceLearner::follow(Candidate& candidate, const Packet& packet, Nanos now) const {
  const Nanos elapsed = now - candidate.last.at;
  const auto step = static_cast<int16_t>(packet.sequence - candidate.last.sequence);
  if (candidate.packets > 0 && step <= 0 && step >= -kMaxStep) return;  // duplicate or late: proves nothing
  const bool in_time =
      !packet.timestamp_runs ||
      timestamp_error(clock_, candidate.last.timestamp, packet.timestamp, elapsed) <= kTimestampTolerance;
  const bool consistent = step > 0 && step <= kMaxStep && in_time && elapsed < kCandidateForgotten;
  if (candidate.packets == 0 || !consistent) {
    candidate.packets = 0;
    candidate.since = now;
  }
  ++candidate.packets;
  candidate.last = seen(packet, candidate.packets > 1 ? candidate.last : Seen{}, now);
}

bool SourceLearner::known_host(const Address& source) const {
  return same_host(source, expected_.signalling) || same_host(source, expected_.signalled) ||
         same_host(source, expected_.described);
}

/// Returns true if packets from this source may make it the peer.
bool SourceLearner::may_be_peer(const Address& source, Nanos now) const {
  if (known_host(source)) return true;
  const Address& signalling = expected_.signalling;
  if (!expected_.accepts_others || same_host(signalling, expected_.signalled)) return false;
  return signalling.family == Address::Family::none || now - described_at_ >= kPreference;
}

bool SourceLearner::behind_nat(const Address& source) const {
  return same_host(source, expected_.signalling) && !same_host(source, expected_.signalled);
}

bool SourceLearner::proven(const Candidate& candidate) const {
  const Proof& needed = behind_nat(candidate.source) ? kProofOfNat : kProof;
  const Nanos span = candidate.source == former_ ? kProofOfFormer : needed.span;
  return candidate.packets >= needed.packets && candidate.last.at - candidate.since >= span;
}

/// Returns true if the candidate's sequence numbers and timestamps continue those of the accepted source.
bool SourceLearner::continues(const Candidate& candidate) const {
  const Nanos elapsed = candidate.last.at - last_.at;
  const auto step = static_cast<uint16_t>(candidate.last.sequence - last_.sequence);
  return candidate.last.ssrc == last_.ssrc && step > 0 && step <= kMaxStep + elapsed / kShortestPacket &&
         timestamp_error(clock_, last_.timestamp, candidate.last.timestamp, elapsed) <= kContinuityTolerance;
}

std::optional<SourceChange> SourceLearner::reason_to_believe(const Candidate& candidate, Nanos now) const {
  const Nanos silence = now - last_.at;
  const bool enough_to_continue =
      candidate.packets >= kProofOfNat.packets && candidate.last.at - candidate.since >= kProofOfNat.span;
  if (believed_ && silence >= kSilent && enough_to_continue && continues(candidate)) {
    return SourceChange::moved;
  }
  if (!proven(candidate)) return std::nullopt;
  if (!believed_) return SourceChange::learned;
  if (source_ == expected_.signalled) return std::nullopt;
  if (known_host(candidate.source) && !known_host(source_)) return SourceChange::preferred;
  const Nanos heard_for = last_.at - believed_since_;
  const Nanos timeout = std::clamp(heard_for - (now - candidate.since), kShortestPatience, kLongestPatience);
  const Nanos waited = now - std::max(last_.at, listening_since_);
  if (expected_.receiving && waited >= timeout) return SourceChange::replaced;
  return std::nullopt;
}

void SourceLearner::believe(const Packet& packet, Nanos now) {
  if (source_ != packet.source || !believed_) believed_since_ = now;
  source_ = packet.source;
  believed_ = true;
  last_ = seen(packet, {}, now);
}

SourceLearner::Verdict SourceLearner::accept(const Packet& packet, Nanos now) {
  if (is_peer(packet.source)) {
    last_ = seen(packet, last_, now);
    return {true, false, {}};
  }
  if (packet.source == expected_.signalled) {
    const bool took_back = believed_;
    believe(packet, now);
    candidates_->fill({});
    return {true, true, took_back ? std::optional(SourceChange::signalled) : std::nullopt};
  }
  if (!may_be_peer(packet.source, now)) return {};
  Candidate& candidate = candidate_of(packet);
  follow(candidate, packet, now);
  const std::optional<SourceChange> change = reason_to_believe(candidate, now);
  if (!change) return {};
  believe(packet, now);
  candidate = {};
  return {true, false, change};
}

}  // namespace carillon
