// Bridge of two legs whose codings, sample rates or packet times differ.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <random>

#include "core/media_core.hpp"
#include "engine/event_ring.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/rounds.hpp"
#include "test/support/rtp_sink.hpp"
#include "test/support/signal.hpp"
#include "test/support/speech.hpp"

namespace carillon::transcoding {

constexpr LegHandle kA{MediaCore::kMaxLegs + 1};
constexpr LegHandle kB{MediaCore::kMaxLegs + 2};
const Address kPeerA = *parse_address("192.0.2.1", 4000);
const Address kPeerB = *parse_address("192.0.2.2", 4000);
constexpr double kHz = 400;
constexpr double kAmplitude = 8000;
constexpr uint8_t kEvents = 101;

constexpr CodecSpec kPcmu{};
constexpr CodecSpec kPcma{.coding = Coding::pcma};
constexpr CodecSpec kG722{.coding = Coding::g722};
constexpr CodecSpec kL16{.coding = Coding::l16, .sample_rate = SampleRate(16'000)};
constexpr CodecSpec kL16Narrow{.coding = Coding::l16, .sample_rate = SampleRate(8000)};
constexpr CodecSpec kOpus{.coding = Coding::opus, .sample_rate = SampleRate(24'000), .fec = true};
constexpr CodecSpec kOpusFull{.coding = Coding::opus, .sample_rate = SampleRate(48'000)};

struct Sent {
  Nanos at{};
  uint16_t sequence = 0;
  uint32_t timestamp = 0;
  bool marker = false;
  std::vector<uint8_t> payload;
};

struct Listener : LegTap {
  Listener() : LegTap(TapHandle(1)) {}
  void frame(const TapFrame& frame, Nanos, Events&) override {
    const AudioView received = frame.received;
    const AudioView sent = frame.sent;
    loud_received += std::ranges::max(received.samples) > kAmplitude / 2 ? 1 : 0;
    loud_sent += std::ranges::max(sent.samples) > kAmplitude / 2 ? 1 : 0;
  }
  void leg_ended(Events&) override {}
  int loud_received = 0;
  int loud_sent = 0;
};

/// Bridge in which A's peer sends a tone. Records what B's peer receives.
struct Bridge : RtpSink {
  Bridge(const CodecSpec& a, const CodecSpec& b, int ms_a = kFrameMs, int ms_b = kFrameMs)
      : core(*this, events), spec_a(a), spec_b(b), packet_ms(ms_a), packet_ms_b(ms_b) {
    for (const LegHandle leg : {kA, kB}) {
      LegConfig config;
      config.handle = leg;
      config.ssrc = leg.value();
      config.sequence = 65'530;
      config.timestamp = 0xffff'f000;
      const CodecSpec& spec = leg == kA ? a : b;
      LegCodecs codecs(spec, 0);
      codecs.add_transcoding(spec);
      core.add_leg(std::make_unique<Leg>(config, std::move(codecs)));
      configure(leg, true);
    }
    core.bridge(kA, kB);
    encoder->expect_loss(a.fec ? 20 : 0);
  }

  void configure(LegHandle leg, bool sending) {
    const CodecSpec& spec = leg == kA ? spec_a : spec_b;
    LegRemote remote;
    remote.receive.source.signalled = leg == kA ? kPeerA : kPeerB;
    remote.receive.source.receiving = true;
    remote.send.sending = sending;
    remote.receive.coding = remote.send.coding = spec.coding;
    remote.receive.payload_type = remote.send.payload_type = 96;
    remote.receive.telephone_event = remote.send.telephone_event = kEvents;
    remote.send.packet_ms = leg == kA ? packet_ms : packet_ms_b;
    core.leg(leg)->configure(remote, now);
  }

  void send(LegHandle leg, const Address&, Bytes packet) override {
    const auto head = parse_rtp(packet);
    REQUIRE(head);
    if (leg != kB) return;
    sent.push_back({now,
                    head->sequence,
                    head->timestamp.value(),
                    head->marker,
                    {head->payload.begin(), head->payload.end()}});
  }

  /// Returns the peer's next packet.
  std::vector<uint8_t> packet(std::optional<uint8_t> payload_type = {}) {
    const SessionRates rates = encoder->rates();
    const SampleCount samples(static_cast<size_t>(packet_ms * rates.sample.per_ms()));
    std::vector<uint8_t> out(kRtpHeaderBytes);
    write_rtp_header({false, payload_type.value_or(96), sequence++, timestamp, 9}, out);
    if (payload_type) {
      out.resize(out.size() + 4);
      // Comfort noise at -60 dBov; an event with a volume of 60.
      out[kRtpHeaderBytes + (payload_type == kComfortNoise ? 0 : 1)] = 60;
      return out;
    }
    timestamp += rates.ticks(samples);
    std::vector<Sample> audio(samples.count());
    for (Sample& sample : audio) {
      const double t = static_cast<double>(said) / rates.sample.hz();
      sample = static_cast<Sample>(kAmplitude * std::sin(2 * std::numbers::pi * kHz * t));
      if (!speech.empty()) sample = speech[said % speech.size()];
      ++said;
    }
    std::vector<uint8_t> payload(2000);
    payload.resize(encoder->encode(spec_a.coding, audio, payload).count());
    out.insert(out.end(), payload.begin(), payload.end());
    return out;
  }
  void hear(std::vector<uint8_t> bytes) { core.receive(kA, bytes, kPeerA, now); }
  void run(int ms) {
    for (; ms > 0; --ms) core.tick(now += kTick);
  }
  void talk(int packets) {
    for (; packets > 0; --packets) {
      hear(packet());
      run(packet_ms);
    }
  }
  void add_player(uint32_t name, PlayManner manner, size_t samples = 1600) {
    Player::Options options;
    options.handle = PlayerHandle(name);
    options.manner = manner;
    auto player = std::make_unique<Player>(
        options, std::make_shared<const Clip>(Clip{SampleRate(8000), std::vector<Sample>(samples)}));
    REQUIRE(core.leg(kB)->add(player));
  }

  /// Ticks of B's clock per packet.
  [[nodiscard]] uint32_t step() const {
    return static_cast<uint32_t>(rates_of(spec_b).clock.in(packet_ms_b * kMillisecond).count());
  }
  /// Checks that sequence numbers and timestamps of the packets from this one on have no gap.
  void check_whole(size_t from = 0) const {
    REQUIRE(sent.size() > from + 1);
    for (size_t i = from + 1; i < sent.size(); ++i) {
      CHECK(static_cast<uint16_t>(sent[i].sequence - sent[i - 1].sequence) == 1);
      CHECK(sent[i].timestamp - sent[i - 1].timestamp == step());
    }
  }
  /// Returns the decoded packets in the order of their numbers. Missing packets are left out.
  [[nodiscard]] std::vector<Sample> heard() const {
    const auto decoder = make_decoder(spec_b);
    const SessionRates rates = decoder->rates();
    std::vector<Sample> out;
    int64_t begins = 0;
    for (const Sent& one : sent) {
      std::vector<Sample> audio(rates.samples(decoder->duration(spec_b.coding, one.payload)).count());
      decoder->decode({spec_b.coding, one.payload, RtpTime(begins += 1'000'000), {}}, audio);
      out.insert(out.end(), audio.begin(), audio.end());
    }
    return out;
  }
  [[nodiscard]] double quality_db() const {
    const std::vector<Sample> audio = heard();
    const int rate = rates_of(spec_b).sample.hz();
    const auto end = std::span(audio).last(std::min(audio.size(), static_cast<size_t>(rate) * 4 / 10));
    return test::sine_snr_db(end, kHz, rate);
  }
  /// Returns the largest step between two samples.
  [[nodiscard]] int roughest() const {
    int largest = 0;
    Sample last = 0;
    for (const Sample sample : heard()) {
      largest = std::max(largest, std::abs(sample - last));
      last = sample;
    }
    return largest;
  }

  RecordRing records{EventRing::kCapacity};
  EventRing events{records};
  MediaCore core;
  CodecSpec spec_a;
  CodecSpec spec_b;
  int packet_ms;
  int packet_ms_b;
  Nanos now = kSecond;
  uint16_t sequence = 65'525;
  RtpTimestamp timestamp{0xffff'f800};
  uint64_t said = 0;
  std::vector<Sample> speech;  // instead of the tone
  std::unique_ptr<AudioEncoder> encoder = make_encoder(spec_a);
  std::vector<Sent> sent;
};

}  // namespace carillon::transcoding
