// Received comfort noise (RFC 3389), as listeners, bots and recordings hear it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "core/codec/g711.hpp"
#include "core/dsp/level.hpp"
#include "core/media_core.hpp"
#include "core/record/packet_track.hpp"
#include "core/stream/live_reader.hpp"
#include "engine/event_ring.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/narrow.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon::comfort_noise_test {

namespace {

constexpr LegHandle kA{MediaCore::kMaxLegs + 1};
constexpr LegHandle kB{MediaCore::kMaxLegs + 2};
const Address kPeerA = *parse_address("192.0.2.1", 4000);
const Address kPeerB = *parse_address("192.0.2.2", 4000);
constexpr CodecSpec kPcmu{};
constexpr CodecSpec kPcma{.coding = Coding::pcma};
constexpr CodecSpec kL16{.coding = Coding::l16, .sample_rate = SampleRate(16'000)};
constexpr RoomHandle kRoom{0x8000'0001U};
/// Payload types of B's peer.
constexpr uint8_t kAudio = 96;
constexpr uint8_t kNoise = 98;
constexpr int kLevel = 40;

/// Peer with silence suppression: talkspurts of a soft tone, and descriptions of noise.
struct Peer {
  uint16_t sequence = 65'530;
  uint32_t timestamp = 0xffff'f000;

  std::vector<uint8_t> speech() {
    std::vector<uint8_t> out(kRtpHeaderBytes + kFrameSamples);
    write_rtp_header({false, 0, sequence++, RtpTimestamp(timestamp), 9}, out);
    for (size_t i = 0; i < kFrameSamples; ++i) {
      const double angle = 2 * std::numbers::pi * 400 * static_cast<double>(i) / kLineRate;
      out[kRtpHeaderBytes + i] = g711_encode(G711Law::mu, static_cast<Sample>(3000 * std::sin(angle)));
    }
    timestamp += kFrameSamples;
    return out;
  }
  std::vector<uint8_t> noise(uint8_t type = kComfortNoise, int level = kLevel) {
    std::vector<uint8_t> out(kRtpHeaderBytes + 1, static_cast<uint8_t>(level));
    write_rtp_header({false, type, sequence++, RtpTimestamp(timestamp), 9}, out);
    return out;
  }
  void pause(Nanos time) { timestamp += static_cast<uint32_t>(time / kMillisecond) * 8; }
};

struct Sent {
  Nanos at{};
  uint8_t type = 0;
  uint16_t sequence = 0;
  uint32_t timestamp = 0;
  std::vector<uint8_t> payload;
};

/// A's peer sends; B's peer, in a bridge or a conference, receives.
struct Call : RtpSink {
  explicit Call(const CodecSpec& b, bool understands = false, bool conference = false)
      : core(*this, events), spec_b(b) {
    for (const LegHandle leg : {kA, kB}) {
      LegConfig config;
      config.handle = leg;
      config.keep_alive = 15 * kSecond;
      const CodecSpec& spec = leg == kA ? kPcmu : b;
      LegCodecs codecs(spec, 0);
      codecs.add_transcoding(spec);
      core.add_leg(std::make_unique<Leg>(config, std::move(codecs)));
      configure(leg, true, understands);
    }
    if (!conference) {
      core.bridge(kA, kB);
      return;
    }
    auto room = std::make_unique<Room>(kRoom);
    REQUIRE(core.add_room(room));
    for (uint32_t i = 0; i < 2; ++i) {
      auto member = std::make_unique<RoomMember>(MemberHandle(i + 1), MemberFlags{});
      REQUIRE(core.join(kRoom, i == 0 ? kA : kB, member));
    }
  }

  void configure(LegHandle leg, bool receiving, bool understands = false) {
    LegRemote remote;
    remote.receive.source.signalled = leg == kA ? kPeerA : kPeerB;
    remote.receive.source.receiving = receiving;
    remote.send.sending = true;
    remote.receive.coding = remote.send.coding = leg == kA ? Coding::pcmu : spec_b.coding;
    remote.receive.payload_type = remote.send.payload_type = leg == kA ? 0 : kAudio;
    if (understands && leg == kB) remote.send.comfort_noise = kNoise;
    core.leg(leg)->configure(remote, now);
  }

  void send(LegHandle leg, const Address&, Bytes packet) override {
    const auto head = parse_rtp(packet);
    REQUIRE(head);
    if (leg != kB) return;
    sent.push_back({now,
                    head->payload_type,
                    head->sequence,
                    head->timestamp.value(),
                    {head->payload.begin(), head->payload.end()}});
  }

  void hear(std::vector<uint8_t> bytes) { core.receive(kA, bytes, kPeerA, now); }
  void run(Nanos time) {
    for (const Nanos until = now + time; now < until;) core.tick(now += kTick);
  }
  void talk(int packets) {
    for (; packets > 0; --packets) {
      hear(peer.speech());
      run(kFrameTime);
    }
  }
  void pause(Nanos time, int level = kLevel) {
    hear(peer.noise(kComfortNoise, level));
    run(time);
    peer.pause(time);
  }
  /// Decoded audio that was sent since the time, without the last packet.
  [[nodiscard]] std::vector<Sample> heard(Nanos since) const {
    std::vector<Sample> out;
    for (const Sent& one : sent) {
      if (one.at <= since || one.type != kAudio) continue;
      if (spec_b.coding == Coding::l16) {
        for (size_t i = 0; i < one.payload.size(); i += 2)
          out.push_back(static_cast<Sample>(read_u16(one.payload, i)));
      } else {
        for (const uint8_t octet : one.payload)
          out.push_back(g711_decode(spec_b.coding == Coding::pcma ? G711Law::a : G711Law::mu, octet));
      }
    }
    return out;
  }

  RecordRing records{EventRing::kCapacity};
  EventRing events{records};
  MediaCore core;
  CodecSpec spec_b;
  Peer peer;
  Nanos now{};
  std::vector<Sent> sent;
};

int roughest(std::span<const Sample> audio) {
  int most = 0;
  for (size_t i = 1; i < audio.size(); ++i) most = std::max(most, std::abs(audio[i] - audio[i - 1]));
  return most;
}

}  // namespace

TEST_SUITE("received comfort noise") {
  TEST_CASE("is generated for other codecs, for peers without support and in conferences") {
    struct Case {
      CodecSpec spec;
      bool conference;
    };
    for (const Case& one : {Case{kPcmu, false}, {kPcma, false}, {kL16, false}, {kPcmu, true}, {kL16, true}}) {
      CAPTURE(static_cast<int>(one.spec.coding));
      CAPTURE(one.conference);
      for (const int level : {30, 50, 70}) {
        CAPTURE(level);
        // A conference attenuates any noise of a member below -45 dBov.
        if (one.conference && level > 45) continue;
        Call call(one.spec, false, one.conference);
        call.talk(50);
        const int smooth = roughest(call.heard(500 * kMillisecond));
        for (int i = 0; i < 3; ++i) {
          // One packet describes the noise of a pause, which is longer than the jitter buffer.
          const Nanos from = call.now;
          call.pause(i == 2 ? 5 * kSecond : kSecond, level);
          const auto noise = call.heard(from + 300 * kMillisecond);
          CHECK(noise.size() >= static_cast<size_t>(one.spec.sample_rate.per_ms()) * 660);
          // The two talkspurts around it do not count.
          CHECK(std::abs(level_dbov(noise) + level) < 2);
          // The noise lasts until the next talkspurt is heard.
          call.talk(25);
        }
        if (level > 30) CHECK(roughest(call.heard(500 * kMillisecond)) < smooth * 5 / 4);
        for (size_t i = 1; i < call.sent.size(); ++i) {
          CHECK(static_cast<uint16_t>(call.sent[i].sequence - call.sent[i - 1].sequence) == 1);
          CHECK(call.sent[i].at - call.sent[i - 1].at <= 2 * kFrameTime);
        }
        CHECK(call.core.peek(kA)->statistics()->read().packets_lost == 0);
      }
    }
  }

  TEST_CASE("leaves no silence before the next talkspurt, also if its first packet is lost") {
    for (const bool lost : {false, true}) {
      Call call(kL16);
      call.talk(50);
      call.pause(kSecond, 30);
      if (lost) static_cast<void>(call.peer.speech());
      if (lost) call.run(kFrameTime);
      const Nanos from = call.now - 200 * kMillisecond;
      call.talk(10);
      const auto audio = call.heard(from);
      for (size_t i = 0; i + 160 < audio.size(); i += 160) {
        CHECK(level_dbov(std::span(audio).subspan(i, 160)) > -36);
      }
    }
  }

  TEST_CASE("is relayed to a peer that supports it, with its payload type and without audio packets") {
    Call call(kPcma, true);
    call.talk(50);
    const size_t before = call.sent.size();
    call.pause(4 * kSecond);
    call.pause(4 * kSecond, 50);
    REQUIRE(call.sent.size() == before + 2);
    for (size_t i : {before, before + 1}) {
      CHECK(call.sent[i].type == kNoise);
      CHECK(call.sent[i].payload == std::vector<uint8_t>{static_cast<uint8_t>(i == before ? 40 : 50)});
    }
    call.talk(10);
    REQUIRE(call.sent.size() == before + 12);
    CHECK(call.sent[before + 2].type == kAudio);
    CHECK(call.sent[before + 2].timestamp - call.sent[before].timestamp == 8 * 8000);
    CHECK(static_cast<uint16_t>(call.sent.back().sequence - call.sent.front().sequence) ==
          call.sent.size() - 1);
    // A description without successors is replaced by noise before the peer's timeout.
    call.pause(17 * kSecond);
    CHECK(call.sent.back().type == kAudio);
    CHECK(std::abs(level_dbov(call.heard(call.now - kSecond)) + kLevel) < 2);
  }

  TEST_CASE("ends when the peer goes on hold") {
    Call call(kL16);
    call.talk(50);
    call.pause(kSecond);
    call.configure(kA, false);
    call.run(500 * kMillisecond);
    for (const Sample sample : call.heard(call.now - 200 * kMillisecond)) CHECK(sample == 0);
    call.run(3 * kSecond);
    CHECK(call.heard(call.now - kSecond).empty());
  }

  TEST_CASE("with a negotiated payload type has the clock of the audio") {
    ReceivePath path(std::make_unique<JitterBuffer>(make_decoder(kL16)));
    ReceiveConfig config;
    config.source.signalled = kPeerA;
    config.source.receiving = true;
    config.coding = Coding::l16;
    config.payload_type = 11;
    config.comfort_noise = kNoise;
    path.configure(config, {});
    std::vector<Sample> frame(320);
    std::vector<Sample> heard;
    for (uint16_t i = 0; i < 100; ++i) {
      const bool first = i == 0;
      std::vector<uint8_t> packet(kRtpHeaderBytes + (first ? 640 : 1), first ? uint8_t{0} : uint8_t{40});
      // After the audio, type 13 has another clock and is not used.
      const uint8_t type = first ? 11 : i < 50 ? kComfortNoise : kNoise;
      write_rtp_header({false, type, i, RtpTimestamp(i * 320U), 9}, packet);
      path.receive(packet, kPeerA, i * kFrameTime);
      path.pop(i * kFrameTime, frame);
      heard.insert(heard.end(), frame.begin(), frame.end());
    }
    CHECK(std::ranges::all_of(std::span(heard).first(50 * 320), [](Sample sample) { return sample == 0; }));
    CHECK(std::abs(level_dbov(std::span(heard).last(40 * 320)) + 40) < 2);
  }

  TEST_CASE("begins a stream that has no audio yet") {
    Call call(kL16, false, true);
    call.pause(kSecond);
    CHECK(std::abs(level_dbov(call.heard(500 * kMillisecond)) + kLevel) < 2);
  }

  TEST_CASE("is part of audio streams and recordings") {
    JitterBuffer buffer(make_decoder(kPcmu));
    LiveReader reader(make_decoder(kPcmu), {});
    PacketTrack track(SampleRate(16'000));
    track.start({});
    Peer peer;
    std::vector<Sample> streamed;
    std::vector<Sample> recorded;
    int64_t sequence = 0;
    for (int i = 0; i < 400; ++i) {
      const Nanos now = i * kFrameTime;
      const bool speaks = i < 50 || i >= 250;
      if (speaks || i == 50) {
        const std::vector<uint8_t> bytes = speaks ? peer.speech() : peer.noise();
        const auto packet = parse_rtp(bytes);
        ReceivedPacket received;
        received.kind = speaks ? ReceivedPacket::Kind::audio : ReceivedPacket::Kind::comfort;
        received.sequence = sequence++;
        received.timestamp = packet->timestamp;
        received.arrival = now;
        received.payload = packet->payload;
        track.take(received);
        if (speaks) {
          buffer.store(*packet, Coding::pcmu, true, now);
        } else {
          buffer.store_comfort(*packet, true, now);
          peer.pause(4 * kSecond);
        }
      }
      Frame frame(kNarrowband);
      while (reader.next(now, buffer.packets(), buffer.delays(), frame)) {
        streamed.insert(streamed.end(), frame.begin(), frame.end());
      }
      if (now < PacketTrack::kDelay) continue;
      Frame wide(SampleRate(16'000));
      track.read(wide.samples());
      recorded.insert(recorded.end(), wide.begin(), wide.end());
    }
    for (const auto& [audio, rate] : {std::pair{&streamed, 8000U}, {&recorded, 16'000U}}) {
      // From 1 to 5 s is the pause.
      CHECK(std::abs(level_dbov(std::span(*audio).subspan(rate * 5 / 4, rate * 7 / 2)) + kLevel) < 2);
      for (size_t i = rate * 5 / 4; i < rate * 49 / 10; i += rate / 50) {
        CHECK(std::abs(level_dbov(std::span(*audio).subspan(i, rate / 50)) + kLevel) < 3);
      }
      CHECK(level_dbov(std::span(*audio).subspan(rate / 4, rate / 2)) > -25);
      CHECK(level_dbov(std::span(*audio).subspan(rate * 11 / 2, rate / 2)) > -25);
    }
  }
}

}  // namespace carillon::comfort_noise_test
