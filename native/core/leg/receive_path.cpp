#include "core/leg/receive_path.hpp"

#include <algorithm>
#include <cstdlib>

namespace carillon {

namespace {
constexpr uint8_t kPcmu = 0;
constexpr uint8_t kPcma = 8;
constexpr uint8_t kComfortNoise = 13;
/// 120 ms: the longest packet that any endpoint sends; the rest of a longer one is ignored.
constexpr size_t kMaxPacketSamples = 960;
/// The two repetitions of an event's end, a packet time each.
constexpr Nanos kEventRepeats = 2 * kFrameTime;
/// A timestamp so far from where arrival time puts it belongs to another timeline: start anew.
constexpr Nanos kTimelineBroken = 2 * kSecond;
}  // namespace

void ReceivePath::configure(const ReceiveConfig& config, Nanos now) {
  config_ = config;
  configured_ = true;
  source_.expect(config.source, now);
}

void ReceivePath::expect(const Address& peer, Nanos now) {
  config_.source.signalled = peer;
  source_.expect(config_.source, now);
}

bool ReceivePath::negotiated(uint8_t payload_type) const {
  // The static types are understood whatever was negotiated: some senders switch between them without asking.
  return payload_type == config_.payload_type || payload_type == config_.telephone_event ||
         payload_type == kPcmu || payload_type == kPcma || payload_type == kComfortNoise;
}

bool ReceivePath::same_source(uint32_t ssrc) {
  if (ssrc_ == ssrc) {
    rival_ssrc_.reset();
    return true;
  }
  // RFC 3550 §8.2 and A.1: a new source counts from its second packet, so that a stray one changes nothing.
  if (ssrc_ && rival_ssrc_ != ssrc) {
    rival_ssrc_ = ssrc;
    return false;
  }
  begin_stream(ssrc);
  return true;
}

void ReceivePath::begin_stream(uint32_t ssrc) {
  if (ssrc_) stats_.restart();
  if (ssrc_) restart_media();
  ssrc_ = ssrc;
  rival_ssrc_.reset();
}

void ReceivePath::restart_media() {
  timestamps_.reset();
  playout_.restart();
  store_.reset();
  delays_.reset();
  events_.restart();
  last_sequence_.reset();
}

void ReceivePath::store_event(const RtpPacket& packet, Nanos arrival) {
  if (store_.empty()) return;
  const RtpTime event_end = timestamps_.extend(packet.timestamp) + event_duration(packet.payload);
  // The end is sent three times and stands still meanwhile; what time it is then, the arrival says.
  const RtpTicks repeats = playout_.codec().rates().clock.in(kEventRepeats);
  store_.fill_silence_until(std::clamp(delays_.newest_at(arrival), event_end, event_end + repeats));
}

void ReceivePath::store_audio(const RtpPacket& packet, int64_t sequence, Nanos arrival) {
  Coding coding = config_.coding;
  if (packet.payload_type != config_.payload_type) {
    coding = packet.payload_type == kPcma ? Coding::pcma : Coding::pcmu;
  }
  const Bytes payload = packet.payload.first(std::min(packet.payload.size(), kMaxPacketSamples));
  const RtpTicks duration = playout_.codec().duration(coding, payload);
  if (duration == RtpTicks()) return;

  RtpTime timestamp = timestamps_.extend(packet.timestamp);
  if (delays_.ready()) {
    const Nanos late_by = arrival - delays_.earliest(timestamp);
    if (abs(late_by) > kTimelineBroken || playout_.lost_track()) {
      restart_media();
      timestamp = timestamps_.extend(packet.timestamp);
    }
  }
  const RtpTime end_before = store_.end();
  const bool nothing_lost = last_sequence_ && sequence == *last_sequence_ + 1;
  const bool pause_before = nothing_lost && !store_.empty() && timestamp > store_.end();
  if (pause_before) store_.fill_silence_until(timestamp);
  delays_.observe(timestamp, arrival);
  if (store_.write(timestamp, duration, coding, payload) == PayloadStore::Written::jumped) {
    // A pause longer than the store: the timeline is whole, only the old audio is of no use any more.
    playout_.restart();
    store_.reset();
    store_.write(timestamp, duration, coding, payload);
  }
  playout_.arrived({timestamp, duration, arrival, packet.marker || pause_before, end_before}, delays_);
}

ReceivePath::Outcome ReceivePath::receive(Bytes datagram, const Address& source, Nanos arrival) {
  const std::optional<RtpPacket> packet = parse_rtp(datagram);
  if (!packet) return {Received::malformed, {}, {}};
  const bool understood = configured_ && negotiated(packet->payload_type);
  const bool is_event = packet->payload_type == config_.telephone_event;
  const bool is_comfort = packet->payload_type == kComfortNoise;
  // What we do not understand teaches us nothing of where the peer is, but from the peer it takes part in its
  // sequence.
  SourceLearner::Verdict verdict;
  if (understood) {
    verdict = source_.accept({source, packet->ssrc, packet->sequence, packet->timestamp.value(), !is_event},
                             arrival);
  } else {
    verdict.from_peer = source_.is_peer(source);
  }
  if (!verdict.from_peer) {
    ++unknown_sources_;
    return {Received::unknown_source, {}, {}};
  }
  const bool same_stream = ssrc_ == packet->ssrc && verdict.change != SourceChange::signalled;
  if (verdict.change && !same_stream) begin_stream(packet->ssrc);
  Outcome outcome = receive_from_peer(*packet, understood && !is_event && !is_comfort, arrival);
  outcome.source_change = verdict.change;
  return outcome;
}

ReceivePath::Outcome ReceivePath::receive_from_peer(const RtpPacket& packet, bool is_audio, Nanos arrival) {
  if (!same_source(packet.ssrc)) return {};
  const ReceptionStats::Seen seen = stats_.receive(packet, arrival, is_audio);
  using Verdict = ReceptionStats::Verdict;
  if (seen.verdict == Verdict::duplicate || seen.verdict == Verdict::suspect) return {};
  if (seen.verdict == Verdict::restarted) restart_media();
  last_arrival_ = arrival;

  Outcome outcome;
  if (is_audio) {
    outcome.kind = Received::audio;
    store_audio(packet, seen.sequence, arrival);
  } else if (packet.payload_type == config_.telephone_event) {
    outcome.kind = Received::event;
    outcome.digit = events_.receive(packet);
    store_event(packet, arrival);
  } else if (packet.payload_type == kComfortNoise) {
    outcome.kind = Received::comfort;
  }
  if (!last_sequence_ || seen.sequence > *last_sequence_) last_sequence_ = seen.sequence;
  return outcome;
}

Quality ReceivePath::quality(std::optional<double> round_trip_ms) const {
  QualityInput input;
  input.reception = stats_.summary();
  input.late = playout_.counters().late_packets;
  input.playout_delay_ms = in_milliseconds(playout_.delay());
  input.round_trip_ms = round_trip_ms;
  return estimate_quality(input);
}

}  // namespace carillon
