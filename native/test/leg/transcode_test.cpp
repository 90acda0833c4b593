#include "test/support/transcoding_bridge.hpp"

namespace carillon {

using namespace transcoding;  // NOLINT: the names of this file

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

  TEST_CASE("decodes packets that are longer than any that the encoder makes (RFC 6716 §3.2.5)") {
    // One frame with 1370 octets of padding.
    const auto lengthened = [](std::vector<uint8_t> packet) {
      const std::array<uint8_t, 7> head{0x41, 255, 255, 255, 255, 255, 100};
      packet[kRtpHeaderBytes] |= 3;
      packet.insert(packet.begin() + kRtpHeaderBytes + 1, head.begin(), head.end());
      packet.resize(packet.size() + 1370);
      return packet;
    };
    Bridge bridge(kOpusFull, kOpusFull);
    bridge.talk(50);
    const size_t before = bridge.sent.size();
    CHECK(before >= 48);
    for (int i = 0; i < 100; ++i) {
      bridge.hear(lengthened(bridge.packet()));
      bridge.run(kFrameMs);
    }
    CHECK(bridge.sent.size() >= before + 98);
    CHECK(bridge.quality_db() > 10);
    bridge.check_whole();
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
}

}  // namespace carillon
