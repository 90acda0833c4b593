#include "test/support/transcoding_bridge.hpp"

namespace carillon {

using namespace transcoding;  // NOLINT: the names of this file

TEST_SUITE("transcoding and other audio") {
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
