#include "core/leg/receive_path.hpp"

#include <algorithm>

#include "core/dsp/fade.hpp"

namespace carillon {

namespace {
constexpr uint8_t kPcmu = 0;
constexpr uint8_t kPcma = 8;
}  // namespace

ReceivePath::ReceivePath(std::unique_ptr<JitterBuffer> audio) : audio_(std::move(audio)) {
  const RtpClockRate clock = audio_->rates().clock;
  stats_.set_clock(clock);
  source_.set_clock(clock);
}

void ReceivePath::use(std::unique_ptr<JitterBuffer>& audio, std::unique_ptr<Former>& former) {
  late_before_ = late_packets();
  audio_.swap(audio);
  former_heard_ = configured_ && former != nullptr;
  if (former_heard_) {
    former->audio = std::move(audio);
    former->config = config_;
    former_.swap(former);
  }
  const RtpClockRate clock = audio_->rates().clock;
  stats_.set_clock(clock);
  source_.set_clock(clock);
}

void ReceivePath::configure(const ReceiveConfig& config, Nanos now) {
  config_ = config;
  configured_ = true;
  // A peer on hold does not send noise.
  if (!config.source.receiving) {
    comforted_ = false;
    audio_->end_comfort();
  }
  source_.expect(config.source, now);
}

void ReceivePath::expect(const Address& peer, Nanos now) {
  config_.source.signalled = peer;
  source_.expect(config_.source, now);
}

bool ReceivePath::negotiated(uint8_t payload_type) const {
  if (payload_type == config_.payload_type || payload_type == config_.telephone_event) return true;
  if (is_comfort(payload_type) || from_former(payload_type)) return true;
  // Accept both G.711 laws regardless of negotiation, because some senders switch between them.
  return (payload_type == kPcmu || payload_type == kPcma) && audio_->decoder().decodes(Coding::pcmu);
}

/// Returns true for packets in the previous coding, which the peer sent before it applied the latest
/// negotiation.
bool ReceivePath::from_former(uint8_t payload_type) const {
  return former_heard_ && payload_type == former_->config.payload_type &&
         payload_type != config_.payload_type;
}

bool ReceivePath::same_source(uint32_t ssrc) {
  if (ssrc_ == ssrc) {
    rival_ssrc_.reset();
    return true;
  }
  // A new source counts from its second packet, so that a single stray packet has no effect (RFC 3550 §8.2,
  // A.1).
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
  audio_->restart();
  comforted_ = false;
  ++sequence_era_;
  former_heard_ = false;
  events_.restart();
  last_sequence_.reset();
}

Coding ReceivePath::store_audio(const RtpPacket& packet, int64_t sequence, Nanos arrival) {
  const bool nothing_lost = last_sequence_ && sequence == *last_sequence_ + 1;
  if (from_former(packet.payload_type)) {
    former_->audio->store(packet, former_->config.coding, nothing_lost, arrival);
    return former_->config.coding;
  }
  Coding coding = config_.coding;
  if (packet.payload_type != config_.payload_type) {
    coding = packet.payload_type == kPcma ? Coding::pcma : Coding::pcmu;
  }
  audio_->store(packet, coding, nothing_lost, arrival);
  return coding;
}

void ReceivePath::store_comfort(const RtpPacket& packet, int64_t sequence, Nanos arrival) {
  // After a packet that belongs behind it, the description is outdated.
  if (last_sequence_ && sequence < *last_sequence_) return;
  audio_->store_comfort(packet, last_sequence_ && sequence == *last_sequence_ + 1, arrival);
  comforted_ = config_.source.receiving;
}

ReceivedPacket ReceivePath::recorded(const Outcome& outcome, uint32_t source, Nanos arrival) const {
  using Kind = ReceivedPacket::Kind;
  ReceivedPacket packet;
  packet.stream = uint64_t{source} << 32 | sequence_era_;
  packet.sequence = outcome.sequence;
  packet.timestamp = outcome.packet.timestamp;
  packet.arrival = arrival;
  packet.payload = outcome.packet.payload;
  packet.coding = outcome.coding;
  packet.kind = outcome.kind == Received::audio ? Kind::audio : Kind::comfort;
  if (outcome.kind == Received::ignored) packet.payload = {};
  if (outcome.kind == Received::event) {
    packet.kind = Kind::event;
    const RtpClockRate clock = audio_->rates().clock;
    packet.duration = clock.in(config_.event_clock.time_of(event_duration(packet.payload)));
    packet.timed = config_.event_clock == clock;
  }
  return packet;
}

void ReceivePath::pop(Nanos now, std::span<Sample> out) {
  const bool began = !audio_->playout().playing();
  audio_->pop(now, out);
  if (former_heard_) hear_former(now, out, began && audio_->playout().playing());
}

/// Plays the previous coding until the new one starts, then switches within a frame.
void ReceivePath::hear_former(Nanos now, std::span<Sample> out, bool gives_way) {
  if (audio_->playout().playing() && !gives_way) {
    former_heard_ = false;
    return;
  }
  Frame heard(former_->audio->rates().sample);
  Frame scratch(rate());
  former_->audio->pop(now, heard.samples());
  const AudioView last = former_->converter.convert(heard, rate(), scratch);
  if (gives_way) {
    crossfade(last.samples, out);
    former_heard_ = false;
  } else {
    std::ranges::copy(last, out.begin());
  }
}

ReceivePath::Outcome ReceivePath::receive(Bytes datagram, const Address& source, Nanos arrival) {
  const std::optional<RtpPacket> packet = parse_rtp(datagram);
  if (!packet) return Outcome(Received::malformed);
  const bool understood = configured_ && negotiated(packet->payload_type);
  const bool is_event = packet->payload_type == config_.telephone_event;
  const bool comfort = is_comfort(packet->payload_type);
  // A packet with an unknown payload type teaches nothing about the peer's address. From the known address it
  // still counts in the sequence.
  SourceLearner::Verdict verdict;
  if (understood) {
    verdict = source_.accept({source, packet->ssrc, packet->sequence, packet->timestamp.value(), !is_event},
                             arrival);
  } else {
    verdict.from_peer = source_.is_peer(source);
    if (configured_ && (verdict.from_peer || source == source_.signalled())) ++not_negotiated_;
  }
  if (!verdict.from_peer) {
    ++unknown_sources_;
    return Outcome(Received::unknown_source);
  }
  const bool same_stream = ssrc_ == packet->ssrc && verdict.change != SourceChange::signalled &&
                           !(verdict.announced && stats_.far_from_sequence(packet->sequence));
  if ((verdict.change || verdict.announced) && !same_stream) begin_stream(packet->ssrc);
  Outcome outcome = receive_from_peer(*packet, understood && !is_event && !comfort, arrival);
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
  outcome.counted = true;
  outcome.packet = packet;
  outcome.sequence = seen.sequence;
  if (is_audio) {
    outcome.kind = Received::audio;
    comforted_ = false;
    const uint64_t late = late_packets();
    outcome.coding = store_audio(packet, seen.sequence, arrival);
    if (late_packets() != late) stats_.discarded(seen.sequence);
  } else if (packet.payload_type == config_.telephone_event) {
    outcome.kind = Received::event;
    outcome.digit = events_.receive(packet, seen.sequence);
    audio_->store_event(packet, config_.event_clock == audio_->rates().clock, arrival);
  } else if (is_comfort(packet.payload_type)) {
    outcome.kind = Received::comfort;
    if (comfort_usable(packet.payload_type)) {
      store_comfort(packet, seen.sequence, arrival);
    } else {
      outcome.packet.payload = {};
    }
  }
  if (!last_sequence_ || seen.sequence > *last_sequence_) last_sequence_ = seen.sequence;
  return outcome;
}

Quality ReceivePath::quality(std::optional<double> round_trip_ms) const {
  QualityInput input;
  input.reception = stats_.summary();
  input.pattern = stats_.pattern();
  input.late = late_packets();
  input.playout_delay_ms = in_milliseconds(playout_delay());
  input.round_trip_ms = round_trip_ms;
  input.coding = config_.coding;
  input.packet_ms = in_milliseconds(audio_->playout().packet_time());
  return estimate_quality(input);
}

}  // namespace carillon
