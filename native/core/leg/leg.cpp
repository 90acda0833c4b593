#include "core/leg/leg.hpp"

#include <algorithm>
#include <limits>

#include "core/base/prefetch.hpp"
#include "core/dsp/fade.hpp"

namespace carillon {

LegCodecs::LegCodecs(const CodecSpec& spec, size_t stream_count)
    : receive(std::make_unique<JitterBuffer>(make_decoder(spec))),
      former(std::make_unique<ReceivePath::Former>()),
      send(std::make_unique<Packetizer>(make_encoder(spec))),
      received(frame_samples(rates_of(spec).sample)),
      joining(RelayState::kJoinFrames * received.size()) {
  for (size_t i = 0; i < std::min(stream_count, kMaxStreams); ++i) streams[i] = make_decoder(spec);
}

void LegCodecs::add_transcoding(const CodecSpec& spec) {
  arrivals = std::make_unique<ArrivalReader>(make_decoder(spec));
  waiting = Packetizer::room(rates_of(spec).sample);
}

Leg::Leg(const LegConfig& config, LegCodecs codecs)
    : config_(config),
      name_(config.handle),
      relay_(std::move(codecs.joining)),
      protection_(std::make_unique<NoProtection>()),
      figures_(std::make_shared<LegFigures>()),
      send_(std::move(codecs.send), *protection_, config.ssrc, config.sequence,
            RtpTimestamp(config.timestamp)),
      received_(std::move(codecs.received)),
      full_rate_(codecs.receive->rates().sample),
      receive_(std::move(codecs.receive)),
      arrivals_(std::move(codecs.arrivals)),
      rtcp_(*protection_, config.ssrc) {
  if (!codecs.waiting.empty()) send_.wait_in(codecs.waiting);
}

void Leg::use(LegCodecs& codecs, Nanos now) {
  if (codecs.send) send_.use(codecs.send);
  if (!codecs.waiting.empty()) send_.wait_in(codecs.waiting);
  // A reader for another coding is of no use.
  if (codecs.receive || codecs.arrivals) arrivals_.swap(codecs.arrivals);
  if (!codecs.receive) return;
  full_rate_ = codecs.receive->rates().sample;
  receive_.use(codecs.receive, codecs.former);
  received_.swap(codecs.received);
  relay_.use(codecs.joining);
  size_t next = 0;
  for (const auto& stream : streams_.all()) {
    if (next < codecs.streams.size() && codecs.streams[next]) stream->use(codecs.streams[next++], now);
  }
}

void Leg::configure(const LegRemote& remote, Nanos now, LegCodecs* codecs) {
  if (codecs != nullptr) use(*codecs, now);
  const Address before = receive_.source().signalled();
  ReceiveConfig receive = remote.receive;
  if (ice_) receive.source.signalled = ice_->peer();
  receive_.configure(receive, now);
  const int packet_ms = send_.config().packet_ms;
  send_.configure(remote.send);
  // Relaying starts again if the packets of the far end have the new length.
  if (configured_ && send_.config().packet_ms != packet_ms) relay_.stop();
  const ExpectedSource& source = receive.source;
  const bool begins = !configured_ || timed_out_ || !receiving_;
  if (begins && source.receiving) expecting_since_ = now;
  const bool other_peer = !configured_ || source.signalled != before;
  tones_.negotiated(remote.receive.telephone_event.has_value(), other_peer);
  if (other_peer) sent_at_.reset();
  receiving_ = source.receiving;
  rtcp_mux_ = remote.rtcp_mux;
  rtcp_learned_ = remote.rtcp_learned;
  const bool moves = receive_.source().signalled() != before;
  if (moves || remote.rtcp_port != described_rtcp_port_) rtcp_port_.reset();
  described_rtcp_port_ = remote.rtcp_port;
  voip_metrics_ = remote.voip_metrics;
  configured_ = true;
}

void Leg::find_peer_by(std::unique_ptr<IceLite>& ice, Nanos now) {
  if (ice && ice_ && ice->credentials() == ice_->credentials()) return;
  if (ice && ice_) ice->follow(*ice_);
  std::swap(ice_, ice);
  if (ice_) follow_peer(now);
}

void Leg::follow_peer(Nanos now) { receive_.expect(ice_->peer(), now); }

void Leg::protect_with(std::unique_ptr<PacketProtection>& protection) {
  protection->follow(*protection_);
  std::swap(protection_, protection);
  protection_bytes_ = protection_->hot_bytes();
  send_.protect_with(*protection_);
  rtcp_.protect_with(*protection_);
}

ReceivePath::Outcome Leg::receive(std::span<uint8_t> datagram, const Address& source, Nanos arrival,
                                  Events& events) {
  // A peer that completes the key exchange first can send media before we have the keys.
  if (protection_->awaits_keys()) return {};
  const Bytes packet = protection_->unprotect_rtp(datagram);
  const ReceivePath::Outcome outcome = receive_.receive(packet, source, arrival);
  if (outcome.kind == Received::malformed) count_malformed(packet.size() > 0 || datagram.empty());
  if (outcome.source_change) {
    // RTCP also arrives from the new address.
    rtcp_port_.reset();
    events.source_changed(name_, *outcome.source_change, source);
  }
  if (outcome.digit && tones_.event(*outcome.digit, arrival)) {
    events.dtmf(name_, *outcome.digit, false, arrival);
  }
  if (has_taps_ && outcome.counted) pass_to_taps(*this, outcome, arrival);
  if (outcome.kind == Received::audio) {
    for (const auto& stream : streams_.all()) {
      stream->pump(arrival, receive_.store(), receive_.delays(), events);
    }
  }
  return outcome;
}

ReceivedPacket Leg::recorded(const ReceivePath::Outcome& outcome, Nanos arrival) const {
  ReceivedPacket packet = receive_.recorded(outcome, name_.value(), arrival);
  packet.rate = full_rate_;
  return packet;
}

/// Passes a packet to the taps. `from`: the leg that received it.
void Leg::pass_to_taps(const Leg& from, const ReceivePath::Outcome& outcome, Nanos arrival) {
  const ReceivedPacket heard = from.recorded(outcome, arrival);
  for (const auto& tap : taps_.all()) {
    if (&from == this) {
      tap->packet(heard);
    } else {
      tap->far_packet(heard);
    }
  }
}

/// Counts an invalid packet. `opened`: the packet was authentic.
void Leg::count_malformed(bool opened) { ++(opened ? malformed_ : unauthentic_); }

void Leg::expect_head() const {
  const auto* const begin = reinterpret_cast<const std::byte*>(this);
  prefetch(this, static_cast<size_t>(reinterpret_cast<const std::byte*>(&receive_) - begin));
  receive_.expect();
  prefetch(&streams_, kCacheLine);
}

void Leg::expect_packet(size_t ahead) const {
  if (ahead == 2) {
    expect_head();
  } else if (ahead == 1) {
    prefetch(protection_.get(), protection_bytes_);
    receive_.expect_audio();
  } else {
    protection_->expect_unprotect();
    receive_.expect_packet();
  }
}

void Leg::expect_frame(size_t ahead) const {
  if (ahead == 3) {
    expect_head();
    for (const void* at : {static_cast<const void*>(&digits_), static_cast<const void*>(&players_),
                           static_cast<const void*>(&taps_), static_cast<const void*>(&rtcp_)}) {
      prefetch(at, kCacheLine);
    }
  } else if (ahead == 2) {
    prefetch(protection_.get(), protection_bytes_);
    prefetch(&figures_->counts, sizeof(figures_->counts));
    prefetch(received_.data(), received_.size() * sizeof(Sample));
    send_.expect_audio();
    receive_.expect_audio();
  } else if (ahead == 1) {
    protection_->expect_protect();
    send_.expect_packet();
    receive_.expect_decoder();
  } else {
    receive_.expect_frame();
  }
}

bool Leg::frame(Nanos now, PacketSink& sink, Events& events) {
  has_consent_ = !ice_ || !ice_->expired(now);
  if (relays() && !relay_goes_on(now)) end_relay(now);
  if (relays() && transcodes_) far_end_->pass_held(*this, now, sink);
  const bool comforts = reports_silence(now);
  if (comforts) {
    send_comfort(sink);
  } else if (pauses(now)) {
    send_.pause(1);
    sent_silence();
  } else {
    exchange_audio(now, sink, events);
  }
  if (send_.packets() != packets_at_visit_) {
    packets_at_visit_ = send_.packets();
    sent_at_ = now;
    comforts_ = comforts;
  }
  check_media_timeout(now, events);
  report_latch(now, sink);
  if (rtcp_.due(now)) {
    rtcp_.watch(receive_.reception(), now);
    send_.expect_loss(rtcp_.loss_percent(now));
    send_report(now, false, sink);
  }
  publish_statistics();
  return relays() || !hears(now);
}

void Leg::exchange_audio(Nanos now, PacketSink& sink, Events& events) {
  receive_frame(now, events);
  if (relays() && needs_no_frames()) {
    TapFrame audio{{rate(), {}}, {rate(), {}}, {rate(), {}}, true};
    for (const auto& tap : taps_.all()) tap->frame(audio, now, events);
    return;
  }
  if (const SampleRate needed = needed_line_rate(); !relays() && needed != send_.rate()) send_.put_at(needed);
  Frame sent(send_.rate());
  Frame own(send_.rate());
  const OwnPart part = compose(now, sent, own, events);
  FrameContent content = FrameContent::audio;
  if (!relays()) {
    if (relay_.joins()) relay_.join_on(sent);
    if (steps_ && !quiet(now)) smooth_step(last_sent_, sent.samples(), fade_samples(sent.rate()));
    steps_ = false;
    last_sent_ = sent.samples().back();
    content = send_frame(sent, sink, events);
  }
  for (const auto& stream : streams_.all()) {
    stream->sent(sent, now, events);
    if (!send_.frame_pending()) stream->frames_left(events);
  }
  if (!has_taps_) return;
  const AudioView nothing{sent.rate(), {}};
  TapFrame audio{decodes_ ? received() : AudioView{rate(), {}}, sent, sent, false};
  // A keypad tone has replaced the audio.
  if (content != FrameContent::tone && far_end_ != nullptr && far_end_->passes_packets()) {
    audio.own = part.audio.value_or(nothing);
    audio.far_end_heard = part.far_end_heard;
  }
  for (const auto& tap : taps_.all()) tap->frame(audio, now, events);
}

void Leg::report_latch(Nanos now, PacketSink& sink) {
  // ICE checks may arrive from any address, so the socket stays unrestricted.
  if (ice_) return;
  const SourceLearner& source = receive_.source();
  const std::optional<Address> only = source.settled(now) ? std::optional(source.target()) : std::nullopt;
  if (only == latched_) return;
  latched_ = only;
  sink.latched(config_.handle, only);
}

bool Leg::can_send() const {
  return has_consent_ && send_.config().sending && receive_.source().target().sendable();
}

/// Returns true if the current frame will be sent as audio: sending is enabled and no digit replaces it.
bool Leg::carries_audio() const {
  return can_send() && !digits_.takes_frame(send_.config().telephone_event.has_value());
}

EventLine Leg::event_line() const {
  const SendConfig& config = send_.config();
  return {config.telephone_event.has_value(), send_.timestamp(), config.event_clock.in(kFrameTime)};
}

/// Sends one frame of the pending digits. Writes a tone to `audio`.
Leg::FrameContent Leg::send_digits(bool can_send, Frame& audio, PacketSink& sink, Events& events) {
  DigitSender::Step step = digits_.next(event_line(), audio);
  if (step.event && can_send) {
    const Bytes packet = send_.event_packet(*step.event);
    if (!packet.empty()) sink.send(config_.handle, receive_.source().target(), packet);
  }
  if (step.done) {
    events.digits_sent(step.done->handle);
    // Keep the job until the control thread collects it, because this thread must not free memory. There is a
    // slot for every waiting job.
    for (auto& slot : spent_jobs_) {
      if (slot) continue;
      slot = std::move(step.done);
      break;
    }
  }
  if (step.event) return FrameContent::event;
  return step.tone ? FrameContent::tone : FrameContent::audio;
}

std::unique_ptr<DigitJob> Leg::remove_job(JobHandle handle) {
  for (auto& slot : spent_jobs_) {
    if (slot && slot->handle == handle) return std::move(slot);
  }
  return nullptr;
}

Leg::FrameContent Leg::send_frame(Frame& audio, PacketSink& sink, Events& events) {
  const bool sends = can_send();
  FrameContent content = FrameContent::audio;
  if (digits_.busy()) content = send_digits(sends, audio, sink, events);
  if (!sends || content == FrameContent::event) {
    send_.skip_frame();
    return content;
  }
  send_.put(audio, content_);
  const Bytes packet = send_.take_packet();
  if (!packet.empty()) sink.send(config_.handle, receive_.source().target(), packet);
  return content;
}

void Leg::half_frame(PacketSink& sink) {
  const Address& to = receive_.source().target();
  if (!to.sendable()) return;
  const Bytes packet = send_.take_packet();
  if (!packet.empty()) sink.send(config_.handle, to, packet);
}

void Leg::check_media_timeout(Nanos now, Events& events) {
  if (config_.media_timeout == Nanos{} || !configured_ || !receiving_) return;
  const Nanos heard = std::max(receive_.last_arrival(), expecting_since_);
  const Nanos over = heard + config_.media_timeout;
  const bool silent = now >= over;
  if (silent && !timed_out_) events.media_timeout(name_, over);
  timed_out_ = silent;
}

void Leg::publish_statistics() {
  if (visits_until_quality_ == 0 || !has_mos_) {
    estimate_quality_now();
    visits_until_quality_ = kFramesPerQuality;
  }
  --visits_until_quality_;
  const ReceptionSummary reception = receive_.reception();
  LegCounts counts;
  counts.packets_received = reception.received;
  counts.packets_sent = send_.packets();
  counts.packets_lost = reception.lost;
  counts.packets_late = receive_.late_packets();
  counts.unknown_sources = receive_.unknown_sources();
  counts.malformed = malformed_;
  counts.unauthentic = unauthentic_;
  counts.not_negotiated = receive_.not_negotiated();
  counts.jitter_ms = reception.jitter_ms;
  counts.round_trip_ms = rtcp_.round_trip_ms().value_or(-1);
  figures_->counts.publish(counts);
}

void Leg::end(Nanos now, PacketSink& sink, Events& events) {
  send_report(now, true, sink);
  for (const auto& tap : taps_.all()) tap->leg_ended(events);
  visits_until_quality_ = 0;
  publish_statistics();
}

}  // namespace carillon
