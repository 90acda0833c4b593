#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "core/codec/g711.hpp"
#include "core/media_core.hpp"
#include "core/rtp/relay_map.hpp"
#include "engine/event_ring.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/narrow.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon {

namespace {

constexpr LegHandle kA{MediaCore::kMaxLegs + 1};
constexpr LegHandle kB{MediaCore::kMaxLegs + 2};
const Address kPeerA = *parse_address("192.0.2.1", 4000);
const Address kPeerB = *parse_address("192.0.2.2", 4000);

struct Sent {
  Nanos at{};
  RtpPacket head;
  std::vector<uint8_t> payload;
};

/// Bridge in which A's peer sends a tone; records what B's peer receives.
struct Bridge : RtpSink {
  explicit Bridge(Coding coding_b = Coding::pcmu, int packet_ms_b = kFrameMs) : core(*this, events) {
    for (const LegHandle handle : {kA, kB}) {
      LegConfig config;
      config.handle = handle;
      config.ssrc = handle.value();
      config.sequence = 65'500;
      core.add_leg(std::make_unique<Leg>(config));
    }
    configure(kA, Coding::pcmu, kFrameMs);
    configure(kB, coding_b, packet_ms_b);
    core.bridge(kA, kB);
  }

  void configure(LegHandle leg, Coding coding, int packet_ms, bool sending = true) {
    LegRemote remote;
    remote.receive.source.signalled = leg == kA ? kPeerA : kPeerB;
    remote.receive.source.receiving = remote.send.sending = true;
    remote.send.sending = sending;
    remote.receive.coding = remote.send.coding = coding;
    remote.receive.payload_type = remote.send.payload_type = coding == Coding::pcma ? 8 : 0;
    remote.receive.telephone_event = remote.send.telephone_event = 101;
    remote.send.packet_ms = packet_ms;
    LegCodecs codecs;
    if (packet_ms != kFrameMs) codecs.waiting = Packetizer::room(kNarrowband);
    if (leg == kA) codecs.arrivals = std::make_unique<ArrivalReader>(make_decoder({}));
    core.leg(leg)->configure(remote, now, &codecs);
  }

  void send(LegHandle leg, const Address&, Bytes packet) override {
    if (leg != kB) return;
    const auto head = parse_rtp(packet);
    REQUIRE(head);
    sent.push_back({now, *head, {head->payload.begin(), head->payload.end()}});
    sent.back().head.payload = {};
  }
  void prompt(LegHandle leg, bool wanted) override {
    if (leg == kA) prompted = wanted;
  }

  /// Returns the peer's packet of the tone with this number. Other payload types have four octets.
  std::vector<uint8_t> packet(uint32_t number, uint8_t payload_type = 0) const {
    std::vector<uint8_t> out(kRtpHeaderBytes + (payload_type == 0 ? kFrameSamples : 4));
    write_rtp_header({false, payload_type, static_cast<uint16_t>(number),
                      RtpTimestamp(number * uint32_t{kFrameSamples}), 9},
                     out);
    for (size_t i = kRtpHeaderBytes; payload_type == 0 && i < out.size(); ++i) {
      const double t = static_cast<double>(number * kFrameSamples + i - kRtpHeaderBytes) / kLineRate;
      out[i] = g711_encode(G711Law::mu, static_cast<Sample>(6000 * std::sin(2 * std::numbers::pi * 250 * t)));
    }
    return out;
  }
  void hear(uint32_t number, uint8_t payload_type = 0) {
    std::vector<uint8_t> bytes = packet(number, payload_type);
    core.receive(kA, bytes, kPeerA, now);
  }
  void run(int ms) {
    for (; ms > 0; --ms) core.tick(now += kTick);
  }
  /// Sends `packets` packets of the tone in real time.
  void talk(int packets) {
    for (; packets > 0; --packets) {
      hear(next++);
      run(kFrameMs);
    }
  }
  void play(uint32_t name, PlayManner manner, Sample level) {
    const auto clip = std::make_shared<const Clip>(Clip{kNarrowband, std::vector<Sample>(1600, level)});
    Player::Options options;
    options.handle = PlayerHandle(name);
    options.manner = manner;
    auto player = std::make_unique<Player>(options, clip);
    REQUIRE(core.leg(kB)->add(player));
  }

  /// Checks that the packets have one source and no gap in time or sequence numbers.
  void check_whole() const {
    for (size_t i = 1; i < sent.size(); ++i) {
      const RtpPacket& before = sent[i - 1].head;
      CHECK(static_cast<uint16_t>(sent[i].head.sequence - before.sequence) == 1);
      CHECK(sent[i].head.timestamp.value() - before.timestamp.value() == kFrameSamples);
      CHECK(sent[i].head.ssrc == kB.value());
    }
  }
  /// Returns the largest step between two samples.
  [[nodiscard]] int roughest() const {
    int step = 0;
    Sample before = 0;
    for (const Sent& packet : sent) {
      for (const uint8_t octet : packet.payload) {
        const Sample sample = g711_decode(G711Law::mu, octet);
        step = std::max(step, std::abs(sample - before));
        before = sample;
      }
    }
    return step;
  }

  RecordRing records{EventRing::kCapacity};
  EventRing events{records};
  MediaCore core;
  Nanos now = kSecond;
  uint32_t next = 65'520;
  bool prompted = false;
  std::vector<Sent> sent;
};

/// Largest step of a 250 Hz tone with amplitude 6000, plus a margin.
constexpr int kToneStep = 1300;

struct Counting final : LegTap {
  Counting() : LegTap(TapHandle(1)) {}
  void frame(const TapFrame& frame, Nanos, Events&) override {
    const AudioView received = frame.received;
    const AudioView sent = frame.sent;
    const auto loud = [](AudioView audio) {
      return std::ranges::any_of(audio, [](Sample sample) { return std::abs(sample) > 3000; });
    };
    loud_received += loud(received) ? 1 : 0;
    loud_sent += loud(sent) ? 1 : 0;
  }
  void leg_ended(Events&) override {}
  int loud_received = 0;
  int loud_sent = 0;
};

/// Tap that needs packets only, as a recording.
struct Packets final : LegTap {
  Packets() : LegTap(TapHandle(1)) {}
  void frame(const TapFrame& frame, Nanos, Events&) override {
    ++frames;
    far_end_heard += frame.far_end_heard ? 1 : 0;
    if (!frame.own.samples.empty() && frame.far_end_heard) loudest_own = std::ranges::max(frame.own);
    own += frame.own.samples.empty() ? 0 : 1;
  }
  void packet(const ReceivedPacket& packet) override {
    received += packet.kind == ReceivedPacket::Kind::audio;
  }
  void far_packet(const ReceivedPacket& packet) override {
    from_far_end += packet.kind == ReceivedPacket::Kind::audio;
  }
  [[nodiscard]] bool needs_frames() const override { return false; }
  void leg_ended(Events&) override {}
  int frames = 0;
  int far_end_heard = 0;
  int own = 0;
  int received = 0;
  int from_far_end = 0;
  Sample loudest_own = 0;
};

}  // namespace

TEST_SUITE("relay") {
  TEST_CASE("keep order and gaps of the numbers, without a gap for excluded packets") {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      std::mt19937 random(seed);
      RelayMap map;
      const auto begin = static_cast<int64_t>(65'536 + random() % 65'536);
      const auto timestamp = [](size_t number, uint32_t base) {
        return RtpTimestamp(base + 160 * static_cast<uint32_t>(number));
      };
      map.begin(begin, timestamp(0, 0xffff'fff0), {65'530, RtpTimestamp(100)});
      CHECK_FALSE(map.place_of(begin - 1, RtpTimestamp(0)));
      struct Packet {
        size_t number;
        bool left_out;
        uint16_t place;
      };
      std::vector<Packet> packets;
      uint16_t place = 65'530;
      for (size_t i = 0; i < 400; ++i) {
        const bool left_out = i > 0 && random() % 3 == 0;
        packets.push_back({i, left_out, place});
        if (!left_out) ++place;
      }
      std::erase_if(packets, [&](const Packet& packet) { return !packet.left_out && random() % 10 == 0; });
      for (size_t i = 1; i + 1 < packets.size(); i += 2) {
        if (!packets[i].left_out && !packets[i + 1].left_out) std::swap(packets[i], packets[i + 1]);
      }
      for (const Packet& packet : packets) {
        const int64_t sequence = begin + static_cast<int64_t>(packet.number);
        if (packet.left_out) {
          map.leave_out(sequence);
          continue;
        }
        const auto found = map.place_of(sequence, timestamp(packet.number, 0xffff'fff0));
        REQUIRE(found);
        CHECK(found->sequence == packet.place);
        CHECK(found->timestamp == timestamp(packet.number, 100));
      }
    }
  }

  TEST_CASE("relays a packet unchanged when it arrives") {
    Bridge bridge;
    bridge.hear(10);
    REQUIRE(bridge.sent.size() == 1);
    CHECK(bridge.sent[0].head.marker);
    CHECK(bridge.prompted);
    bridge.run(20);
    bridge.hear(11);
    bridge.hear(11);  // duplicate
    bridge.hear(14);  // two are lost
    bridge.hear(13);  // late
    bridge.hear(9);   // from before the bridge
    REQUIRE(bridge.sent.size() == 4);
    const auto first = bridge.sent[0].head;
    for (size_t i = 0; i < 4; ++i) {
      const uint32_t number = std::array{10U, 11U, 14U, 13U}[i];
      const std::vector<uint8_t> said = bridge.packet(number);
      CHECK(std::equal(said.begin() + kRtpHeaderBytes, said.end(), bridge.sent[i].payload.begin()));
      CHECK(static_cast<uint16_t>(bridge.sent[i].head.sequence - first.sequence) == number - 10U);
      CHECK(bridge.sent[i].head.timestamp.value() - first.timestamp.value() == 160 * (number - 10));
      CHECK(bridge.sent[i].head.marker == (i == 0));
    }
    CHECK(bridge.core.counters().packets_sent >= 4);
    // No other packet was sent.
    bridge.run(100);
    CHECK(bridge.sent.size() == 4);
  }

  TEST_CASE("keeps keypad events local without a gap in the sequence") {
    Bridge bridge;
    bridge.talk(3);
    bridge.hear(bridge.next++, 101);
    bridge.run(kFrameMs);
    bridge.hear(bridge.next++, 101);
    bridge.talk(3);
    CHECK(bridge.sent.size() == 6);
    for (size_t i = 1; i < bridge.sent.size(); ++i) {
      CHECK(static_cast<uint16_t>(bridge.sent[i].head.sequence - bridge.sent[i - 1].head.sequence) == 1);
    }
  }

  TEST_CASE("generates silence after a long silence of the peer, in real time") {
    Bridge bridge;
    bridge.talk(10);
    bridge.run(1000);
    CHECK(bridge.sent.size() > 10 + 35);
    CHECK(bridge.sent[10].at - bridge.sent[9].at >= 180 * kMillisecond);
    CHECK(bridge.sent[10].head.marker);
    const uint32_t passed = bridge.sent.back().head.timestamp.value() - bridge.sent[9].head.timestamp.value();
    const auto clock = static_cast<double>((bridge.sent.back().at - bridge.sent[9].at) / kMillisecond);
    CHECK(std::abs(passed / 8.0 - clock) <= 40);
    const auto silent = bridge.sent.back();
    bridge.next += 50;
    bridge.talk(3);
    CHECK(bridge.sent[bridge.sent.size() - 3].head.marker);
    const RtpPacket& back = bridge.sent.back().head;
    CHECK(static_cast<uint16_t>(back.sequence - silent.head.sequence) <= 5);
    CHECK(back.timestamp.value() - silent.head.timestamp.value() <= 5 * kFrameSamples);
  }

  TEST_CASE("plays an announcement instead of the far end and returns, without a gap or a jump") {
    Bridge bridge;
    bridge.talk(10);
    bridge.play(1, PlayManner::instead, 0);
    bridge.talk(20);
    bridge.check_whole();
    CHECK(bridge.sent.size() >= 29);
    CHECK(std::ranges::count(bridge.sent.back().payload, 0xff) < 20);
    CHECK(std::ranges::count_if(bridge.sent, [](const Sent& packet) { return packet.head.marker; }) == 3);
    // Relaying again: the payload is unchanged.
    const std::vector<uint8_t> said = bridge.packet(bridge.next - 1);
    CHECK(std::equal(said.begin() + kRtpHeaderBytes, said.end(), bridge.sent.back().payload.begin()));
  }

  TEST_CASE("switches between relaying and decoding without a click") {
    Bridge bridge;
    bridge.talk(20);
    CHECK(bridge.roughest() < kToneStep);
    bridge.play(1, PlayManner::mixed, 0);
    bridge.talk(40);
    bridge.check_whole();
    CHECK(bridge.roughest() < kToneStep);
    const std::vector<uint8_t> said = bridge.packet(bridge.next - 1);
    CHECK(std::equal(said.begin() + kRtpHeaderBytes, said.end(), bridge.sent.back().payload.begin()));
  }

  TEST_CASE("lets a tap hear both sides without delaying the relay") {
    Bridge bridge;
    bridge.talk(10);
    for (const LegHandle leg : {kA, kB}) {
      std::unique_ptr<LegTap> tap = std::make_unique<Counting>();
      REQUIRE(bridge.core.leg(leg)->add(tap));
    }
    const size_t before = bridge.sent.size();
    bridge.talk(25);
    REQUIRE(bridge.sent.size() == before + 25);
    for (size_t i = before; i < bridge.sent.size(); ++i) CHECK_FALSE(bridge.sent[i].head.marker);
    bridge.check_whole();
    const auto loud = [&](LegHandle leg) {
      return static_cast<const Counting*>(bridge.core.leg(leg)->tap(TapHandle(1)));
    };
    CHECK(loud(kA)->loud_received >= 23);
    CHECK(loud(kA)->loud_sent == 0);
    CHECK(loud(kB)->loud_sent >= 23);
    CHECK(loud(kB)->loud_received == 0);
  }

  TEST_CASE("does not visit relaying legs for each packet until a tap or a player is added") {
    Bridge bridge;
    // Returns after how many packets the core was idle.
    const auto both = [&](int packets) {
      int rests = 0;
      for (; packets > 0; --packets) {
        std::vector<uint8_t> back = bridge.packet(bridge.next);
        bridge.core.receive(kB, back, kPeerB, bridge.now);
        bridge.talk(1);
        rests += bridge.core.at_rest() ? 1 : 0;
      }
      return rests;
    };
    CHECK(both(60) >= 40);
    CHECK(bridge.sent.size() == 60);
    // A tap on one leg needs the audio of the other leg.
    std::unique_ptr<LegTap> tap = std::make_unique<Counting>();
    REQUIRE(bridge.core.leg(kB)->add(tap));
    CHECK(both(20) == 0);
    CHECK(static_cast<const Counting*>(bridge.core.leg(kB)->tap(TapHandle(1)))->loud_sent >= 18);
    static_cast<void>(bridge.core.leg(kB)->remove_tap(TapHandle(1)));
    CHECK(both(20) >= 12);
    bridge.play(1, PlayManner::instead, 0);
    CHECK(both(8) == 0);
    CHECK(both(20) >= 8);
    bridge.check_whole();
    // When both peers are silent, silence is generated.
    bridge.run(1000);
    CHECK(bridge.now - bridge.sent.back().at < kFrameTime);
  }

  TEST_CASE("passes packets to a recording without decoding them, and its own audio when it is mixed in") {
    Bridge bridge;
    for (const LegHandle handle : {kA, kB}) {
      std::unique_ptr<LegTap> tap = std::make_unique<Packets>();
      REQUIRE(bridge.core.leg(handle)->add(tap));
    }
    const auto& near = static_cast<const Packets&>(*bridge.core.leg(kA)->tap(TapHandle(1)));
    const auto& far = static_cast<const Packets&>(*bridge.core.leg(kB)->tap(TapHandle(1)));
    bridge.talk(50);
    CHECK(bridge.core.leg(kB)->relays());
    CHECK_FALSE(bridge.core.leg(kA)->decodes());
    CHECK(near.received == 50);
    CHECK(near.from_far_end == 0);
    CHECK(far.received == 0);
    CHECK(far.from_far_end == 50);
    CHECK(far.frames >= 49);
    CHECK(far.far_end_heard >= 49);
    CHECK(far.own == 0);
    // The far end's audio is not part of the own audio.
    bridge.play(1, PlayManner::mixed, 5000);
    bridge.talk(10);
    CHECK(far.own == 10);
    CHECK(far.loudest_own == 5000);
    CHECK(far.far_end_heard >= 59);
    bridge.talk(20);
    const int heard = far.far_end_heard;
    bridge.play(2, PlayManner::instead, 3000);
    bridge.talk(10);
    CHECK(far.own >= 20);
    CHECK(far.far_end_heard == heard);
    CHECK(far.from_far_end == 90);
    bridge.core.unbridge(kA, kB);
    bridge.talk(10);
    CHECK(far.from_far_end == 90);
    CHECK(near.received == 100);
  }

  TEST_CASE("relays between both G.711 laws on arrival, converted to the receiver's law") {
    Bridge bridge(Coding::pcma);
    bridge.hear(10);
    bridge.hear(12);  // one is lost
    REQUIRE(bridge.sent.size() == 2);
    CHECK(bridge.prompted);
    for (size_t i = 0; i < 2; ++i) {
      const std::vector<uint8_t> said = bridge.packet(static_cast<uint32_t>(10 + 2 * i));
      std::vector<Sample> heard(kFrameSamples);
      std::vector<uint8_t> expected(kFrameSamples);
      g711_decode(G711Law::mu, Bytes(said).subspan(kRtpHeaderBytes), heard);
      g711_encode(G711Law::a, heard, expected);
      CHECK(bridge.sent[i].head.payload_type == 8);
      CHECK(bridge.sent[i].payload == expected);
    }
    CHECK(static_cast<uint16_t>(bridge.sent[1].head.sequence - bridge.sent[0].head.sequence) == 2);
    bridge.run(100);
    CHECK(bridge.sent.size() == 2);
  }

  TEST_CASE(
      "decodes other codings and packet times; ends relaying immediately on hold and at the end of a "
      "bridge") {
    CHECK_FALSE(carries_over(Coding::pcmu, Coding::g722));
    CHECK_FALSE(carries_over(Coding::l16, Coding::pcma));
    CHECK(carries_over(Coding::opus, Coding::opus));
    Bridge longer(Coding::pcmu, 40);
    longer.talk(20);
    CHECK(longer.prompted);
    CHECK(longer.sent.back().payload.size() == 320);

    Bridge bridge;
    bridge.talk(10);
    bridge.configure(kB, Coding::pcmu, kFrameMs, false);
    const size_t before = bridge.sent.size();
    bridge.talk(10);
    CHECK(bridge.sent.size() == before);
    bridge.configure(kB, Coding::pcmu, kFrameMs, true);
    bridge.talk(10);
    CHECK(bridge.sent.size() >= before + 9);
    CHECK(bridge.prompted);
    bridge.core.unbridge(kA, kB);
    bridge.talk(2);
    CHECK_FALSE(bridge.prompted);
    CHECK(std::ranges::count(bridge.sent.back().payload, 0xff) == kFrameSamples);
  }
}

}  // namespace carillon
