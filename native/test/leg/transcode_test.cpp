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

namespace carillon {

namespace {

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

}  // namespace

TEST_SUITE("transcoding on arrival") {
  TEST_CASE("sends each packet when it arrives, for all pairs of codecs and sample rates") {
    const std::array specs{kPcmu, kPcma, kG722, kL16, kL16Narrow, kOpus, kOpusFull};
    for (const CodecSpec& a : specs) {
      for (const CodecSpec& b : specs) {
        if (carries_over(a.coding, b.coding) && rates_of(a).clock == rates_of(b).clock) continue;
        CAPTURE(static_cast<int>(a.coding));
        CAPTURE(static_cast<int>(b.coding));
        Bridge bridge(a, b);
        for (int i = 0; i < 60; ++i) {
          const size_t before = bridge.sent.size();
          bridge.hear(bridge.packet());
          CHECK(bridge.sent.size() == before + 1);
          bridge.run(kFrameMs);
        }
        CHECK(bridge.sent.size() == 60);
        bridge.check_whole();
        CHECK(bridge.quality_db() > (a.coding == Coding::opus || b.coding == Coding::opus ? 15 : 30));
        CHECK(bridge.sent[0].marker);
        CHECK(std::ranges::count_if(bridge.sent, &Sent::marker) == 1);
      }
    }
  }

  TEST_CASE("passes a loss on as a gap of one packet") {
    for (const CodecSpec& b : {kG722, kOpus}) {
      Bridge bridge(kPcmu, b);
      bridge.talk(10);
      static_cast<void>(bridge.packet());
      bridge.run(kFrameMs);
      bridge.hear(bridge.packet());
      CHECK(bridge.sent.size() == 10);  // waits for the missing packet
      bridge.run(kFrameMs);
      bridge.hear(bridge.packet());
      REQUIRE(bridge.sent.size() == 12);
      CHECK(static_cast<uint16_t>(bridge.sent[10].sequence - bridge.sent[9].sequence) == 2);
      CHECK(bridge.sent[10].timestamp - bridge.sent[9].timestamp == 2 * bridge.step());
      bridge.run(kFrameMs);
      bridge.talk(20);
      bridge.check_whole(10);
    }
  }

  TEST_CASE("restores lost packets from the next ones (FEC), others are passed on") {
    for (const bool fec : {true, false}) {
      CodecSpec spec = kOpus;
      spec.fec = fec;
      Bridge bridge(spec, kPcmu);
      bridge.speech = resample_whole(test::Babble(3).talk(80'000), 8000, 24'000);
      bridge.talk(50);
      for (int i = 0; i < 40; ++i) {
        static_cast<void>(bridge.packet());
        bridge.run(kFrameMs);
        bridge.talk(9);
      }
      // Opus repeats only frames with speech.
      CHECK(bridge.sent.size() >= (fec ? 50U + 360 + 20 : 50U + 360));
      if (!fec) CHECK(bridge.sent.size() == 50U + 360);
      const auto passed = static_cast<uint16_t>(bridge.sent.back().sequence - bridge.sent.front().sequence);
      CHECK(passed == 50 + 400 - 1);
    }
  }

  TEST_CASE("keeps the order of packets that arrive one too early, and drops later ones") {
    Bridge bridge(kPcmu, kG722);
    bridge.talk(10);
    const std::vector<uint8_t> first = bridge.packet();
    bridge.hear(bridge.packet());
    CHECK(bridge.sent.size() == 10);
    bridge.hear(first);
    CHECK(bridge.sent.size() == 12);
    bridge.run(2 * kFrameMs);
    bridge.talk(10);
    bridge.check_whole();
    CHECK(bridge.quality_db() > 30);

    const size_t before = bridge.sent.size();
    const std::vector<uint8_t> late = bridge.packet();
    bridge.talk(2);
    bridge.hear(late);
    CHECK(bridge.sent.size() == before + 2);
    bridge.talk(10);
    CHECK(bridge.sent.size() == before + 12);
    CHECK(static_cast<uint16_t>(bridge.sent.back().sequence - bridge.sent.front().sequence) == before + 12);
  }

  TEST_CASE("waits longer while packets arrive later than the next but one") {
    Bridge bridge(kPcmu, kG722);
    // Returns how many of the packets were passed on; each tenth arrives 45 ms late.
    const auto passed = [&](int tens) {
      const size_t before = bridge.sent.size();
      for (; tens > 0; --tens) {
        const std::vector<uint8_t> late = bridge.packet();
        bridge.run(kFrameMs);
        bridge.talk(1);
        bridge.hear(bridge.packet());
        bridge.run(5);
        bridge.hear(late);
        bridge.run(kFrameMs - 5);
        bridge.talk(7);
      }
      return bridge.sent.size() - before;
    };
    bridge.talk(10);
    CHECK(passed(1) == 9);
    CHECK(passed(20) == 200);
    // Later, a packet again waits for one other only.
    bridge.talk(600);
    static_cast<void>(bridge.packet());
    bridge.run(kFrameMs);
    bridge.talk(1);
    const size_t before = bridge.sent.size();
    bridge.hear(bridge.packet());
    CHECK(bridge.sent.size() == before + 2);
  }

  TEST_CASE("sends the last packet before a silence although its predecessor is missing") {
    Bridge bridge(kPcmu, kOpus);
    bridge.talk(10);
    static_cast<void>(bridge.packet());
    bridge.hear(bridge.packet());
    bridge.run(70);
    CHECK(bridge.sent.size() == 11);
    CHECK(static_cast<uint16_t>(bridge.sent[10].sequence - bridge.sent[9].sequence) == 2);
  }

  TEST_CASE("regroups packets of other lengths") {
    struct Case {
      CodecSpec a;
      CodecSpec b;
      int from_ms;
      int to_ms;
    };
    const std::array cases{Case{kPcmu, kPcmu, 20, 40}, Case{kPcmu, kG722, 20, 60}, Case{kG722, kPcmu, 60, 20},
                           Case{kPcmu, kPcma, 30, 20}, Case{kPcma, kOpus, 30, 20}, Case{kOpus, kPcmu, 40, 30},
                           Case{kPcmu, kL16, 10, 40},  Case{kOpus, kOpus, 20, 60}};
    for (const Case& one : cases) {
      CAPTURE(one.from_ms);
      CAPTURE(one.to_ms);
      Bridge bridge(one.a, one.b, one.from_ms, one.to_ms);
      bridge.talk(1200 / one.from_ms);
      CHECK(bridge.sent.size() <= static_cast<size_t>(1200 / one.to_ms));
      CHECK(bridge.sent.size() + 8 >= static_cast<size_t>(1200 / one.to_ms));
      bridge.check_whole();
      const bool opus = one.a.coding == Coding::opus || one.b.coding == Coding::opus;
      CHECK(bridge.quality_db() > (opus ? 15 : 30));
      CHECK(bridge.roughest() < 6000);
    }
    // A loss that is shorter than a packet is concealed, a longer one is passed on.
    Bridge longer(kPcmu, kG722, 20, 60);
    longer.talk(30);
    static_cast<void>(longer.packet());
    longer.run(kFrameMs);
    longer.talk(11);
    longer.check_whole();
    Bridge shorter(kG722, kPcmu, 60, 20);
    shorter.talk(10);
    const size_t before = shorter.sent.size();
    static_cast<void>(shorter.packet());
    shorter.run(60);
    shorter.talk(2);
    CHECK(static_cast<uint16_t>(shorter.sent[before].sequence - shorter.sent[before - 1].sequence) == 4);
  }

  TEST_CASE("keeps the pauses of the sender, without a gap in the sequence") {
    Bridge bridge(kPcmu, kG722);
    bridge.talk(10);
    bridge.timestamp += RtpTicks(800);
    bridge.run(100);
    bridge.talk(5);
    REQUIRE(bridge.sent.size() == 15);
    CHECK(static_cast<uint16_t>(bridge.sent[10].sequence - bridge.sent[9].sequence) == 1);
    CHECK(bridge.sent[10].timestamp - bridge.sent[9].timestamp == 960);
    CHECK(bridge.sent[10].marker);
  }

  TEST_CASE("composes audio while an Opus sender pauses (DTX)") {
    Bridge bridge(kOpus, kPcmu);
    bridge.talk(20);
    std::vector<uint8_t> nothing = bridge.packet();
    nothing.resize(kRtpHeaderBytes + 1);
    bridge.hear(nothing);
    bridge.run(400);
    bridge.timestamp += RtpTicks(19 * 960);
    CHECK(bridge.sent.size() >= 38);
    bridge.talk(5);
    bridge.check_whole();
    for (size_t i = 1; i < bridge.sent.size(); ++i) {
      CHECK(bridge.sent[i].at - bridge.sent[i - 1].at <= 2 * kFrameTime);
    }
    const size_t before = bridge.sent.size();
    bridge.hear(bridge.packet());
    CHECK(bridge.sent.size() == before + 1);
  }

  TEST_CASE("leaves out packets without audio") {
    Bridge bridge(kPcmu, kOpus);
    bridge.talk(10);
    bridge.hear(bridge.packet(kEvents));
    bridge.hear(bridge.packet());
    CHECK(bridge.sent.size() == 11);
    bridge.run(kFrameMs);
    bridge.talk(9);
    CHECK(bridge.sent.size() == 20);
    bridge.check_whole();
  }

  TEST_CASE(
      "passes pauses with comfort noise (RFC 3389) on without a click, a loss or a jump of timestamps") {
    for (const CodecSpec& b : {kG722, kOpus, kL16}) {
      CAPTURE(static_cast<int>(b.coding));
      Bridge bridge(kPcmu, b);
      // Talkspurts of 500 ms that begin and end softly.
      bridge.speech.resize(4000);
      for (size_t i = 0; i < bridge.speech.size(); ++i) {
        const double at = static_cast<double>(i);
        const double envelope = std::sin(std::numbers::pi * at / 4000);
        bridge.speech[i] =
            static_cast<Sample>(kAmplitude * envelope * std::sin(2 * std::numbers::pi * kHz * at / 8000));
      }
      bridge.talk(25);
      const int smooth = bridge.roughest();
      for (int pause = 0; pause < 4; ++pause) {
        const Sent last = bridge.sent.back();
        for (int i = 0; i < 3; ++i) {
          bridge.hear(bridge.packet(kComfortNoise));
          bridge.run(10 * kFrameMs);
          bridge.timestamp += RtpTicks(1600);
        }
        const size_t next = bridge.sent.size();
        bridge.talk(25);
        // Packets of composed silence or a gap: the timestamps follow the time.
        for (size_t i = next - 1; i < bridge.sent.size(); ++i) {
          const Sent& one = bridge.sent[i];
          const auto clock = rates_of(b).clock;
          const Nanos by_timestamp = clock.time_of(RtpTicks(one.timestamp - last.timestamp));
          CHECK(abs(by_timestamp - (one.at - last.at)) <= 2 * kFrameTime);
        }
      }
      for (size_t i = 1; i < bridge.sent.size(); ++i) {
        CHECK(static_cast<uint16_t>(bridge.sent[i].sequence - bridge.sent[i - 1].sequence) == 1);
      }
      CHECK(bridge.roughest() < smooth * 5 / 4);
      CHECK(bridge.core.peek(kA)->statistics()->read().packets_lost == 0);
    }
  }

  TEST_CASE("switches to a playback and back without a click, a gap or a jump in time") {
    for (const auto& [a, b] : {std::pair{kPcmu, kG722}, std::pair{kL16, kPcmu}, std::pair{kOpus, kPcmu}}) {
      for (const PlayManner manner : {PlayManner::mixed, PlayManner::instead}) {
        CAPTURE(static_cast<int>(a.coding));
        CAPTURE(static_cast<int>(manner));
        Bridge bridge(a, b);
        bridge.talk(30);
        const int smooth = bridge.roughest();
        bridge.add_player(1, manner);
        bridge.talk(60);
        bridge.check_whole();
        for (size_t i = 1; i < bridge.sent.size(); ++i) {
          CHECK(bridge.sent[i].at - bridge.sent[i - 1].at <= 2 * kFrameTime);
        }
        CHECK(bridge.sent.size() >= 88);
        CHECK(bridge.roughest() < smooth * 3 / 2);
        // Transcoding has resumed.
        const size_t before = bridge.sent.size();
        bridge.hear(bridge.packet());
        CHECK(bridge.sent.size() == before + 1);
      }
    }
  }

  TEST_CASE("continues while taps listen, which hear both sides") {
    Bridge bridge(kPcmu, kG722);
    bridge.talk(10);
    for (const LegHandle leg : {kA, kB}) {
      std::unique_ptr<LegTap> tap = std::make_unique<Listener>();
      REQUIRE(bridge.core.leg(leg)->add(tap));
    }
    for (int i = 0; i < 30; ++i) {
      const size_t before = bridge.sent.size();
      bridge.hear(bridge.packet());
      CHECK(bridge.sent.size() == before + 1);
      bridge.run(kFrameMs);
    }
    bridge.check_whole();
    const auto tap = [&](LegHandle leg) {
      return static_cast<Listener*>(bridge.core.leg(leg)->tap(TapHandle(1)));
    };
    CHECK(tap(kA)->loud_received >= 27);
    CHECK(tap(kB)->loud_sent >= 27);
    CHECK(tap(kB)->loud_received == 0);
    const auto removed = bridge.core.leg(kB)->remove_tap(TapHandle(1));
    bridge.talk(10);
    bridge.check_whole();
    CHECK(std::ranges::count_if(bridge.sent, &Sent::marker) == 1);
  }

  TEST_CASE("ends immediately on hold, in a room and without a bridge") {
    Bridge bridge(kPcmu, kG722);
    bridge.talk(20);
    bridge.configure(kB, false);
    const size_t before = bridge.sent.size();
    bridge.talk(10);
    CHECK(bridge.sent.size() == before);
    bridge.configure(kB, true);
    bridge.talk(10);
    CHECK(bridge.sent.size() >= before + 9);

    auto room = std::make_unique<Room>(RoomHandle(1));
    REQUIRE(bridge.core.add_room(room));
    const size_t in_room = bridge.sent.size();
    for (const LegHandle leg : {kA, kB}) {
      auto member = std::make_unique<RoomMember>(MemberHandle(leg.value()), MemberFlags{});
      REQUIRE(bridge.core.join(RoomHandle(1), leg, member));
    }
    bridge.talk(20);
    bridge.check_whole(in_room - 1);
    for (size_t i = in_room; i < bridge.sent.size(); ++i) {
      CHECK(bridge.sent[i].at - bridge.sent[i - 1].at <= 2 * kFrameTime);
    }
    bridge.core.bridge(kA, kB);
    bridge.talk(20);
    bridge.check_whole(in_room - 1);
    bridge.core.unbridge(kA, kB);
    bridge.talk(3);
    CHECK(bridge.now - bridge.sent.back().at <= kFrameTime);
  }

  TEST_CASE("does not visit the legs for each packet") {
    Bridge bridge(kPcmu, kG722);
    std::vector<uint8_t> back(kRtpHeaderBytes + 160, 0x55);
    int rests = 0;
    for (uint16_t i = 0; i < 60; ++i) {
      write_rtp_header({false, 96, i, RtpTimestamp(i * 160U), 10}, back);
      bridge.core.receive(kB, back, kPeerB, bridge.now);
      bridge.talk(1);
      rests += bridge.core.at_rest() ? 1 : 0;
    }
    CHECK(rests >= 40);
  }

  TEST_CASE("limits the audio of a peer that sends faster than real time") {
    Bridge bridge(kPcmu, kOpus);
    bridge.talk(10);
    const size_t before = bridge.sent.size();
    for (int i = 0; i < 2000; ++i) bridge.hear(bridge.packet());
    CHECK(bridge.sent.size() - before < 20);
    bridge.run(1000);
    CHECK(bridge.sent.size() - before < 80);
  }

  TEST_CASE("survives random packets") {
    for (const auto& [a, b] : {std::pair{kOpus, kPcmu}, std::pair{kG722, kOpus}, std::pair{kL16, kG722}}) {
      const auto seeds = static_cast<unsigned>(test::rounds(2, 20));
      for (unsigned seed = 1; seed <= seeds; ++seed) {
        Bridge bridge(a, b, kFrameMs, seed % 2 == 0 ? kFrameMs : 60);
        std::mt19937 random(seed);
        for (int i = 0; i < 600; ++i) {
          std::vector<uint8_t> bytes = bridge.packet();
          if (random() % 4 == 0) {
            bytes.resize(kRtpHeaderBytes + random() % 1500);
            for (size_t k = kRtpHeaderBytes; k < bytes.size(); ++k) bytes[k] = static_cast<uint8_t>(random());
          }
          if (random() % 8 == 0) bridge.sequence = static_cast<uint16_t>(bridge.sequence + random() % 80 - 8);
          if (random() % 8 == 0) bridge.timestamp += RtpTicks(static_cast<int32_t>(random() % 40'000) - 9000);
          if (random() % 50 == 0) bridge.timestamp = RtpTimestamp(static_cast<uint32_t>(random()));
          bridge.hear(bytes);
          bridge.run(static_cast<int>(random() % 40));
        }
        CHECK(bridge.sent.size() < 4000);
        bridge.run(300);
        bridge.sent.clear();
        bridge.talk(150);
        CHECK(bridge.sent.size() > 40);
      }
    }
  }
}

}  // namespace carillon
