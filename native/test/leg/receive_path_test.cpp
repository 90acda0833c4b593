#include "core/leg/receive_path.hpp"

#include <doctest/doctest.h>

#include <random>

#include "core/codec/g711_codec.hpp"
#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

Address address(uint8_t last, uint16_t port) {
  Address out;
  out.family = Address::Family::ipv4;
  out.ip = {192, 0, 2, last};
  out.port = port;
  return out;
}

struct Packets {
  ReceivePath path{std::make_unique<JitterBuffer>(make_decoder({}))};
  Address from = address(7, 40000);
  uint16_t sequence = 65'530;
  uint32_t timestamp = 0xffff'ff00;
  uint32_t ssrc = 1;
  Nanos now = kSecond;

  Packets() { path.configure({{from, {}, true, {}, false}, Coding::pcmu, 0, uint8_t{101}}, Nanos{}); }

  Received send(uint8_t payload_type = 0, size_t samples = kFrameSamples, bool marker = false) {
    std::vector<uint8_t> bytes(kRtpHeaderBytes + samples, 0x80);
    write_rtp_header({marker, payload_type, sequence++, RtpTimestamp(timestamp), ssrc}, bytes);
    timestamp += static_cast<uint32_t>(samples);
    const Received kind = path.receive(bytes, from, now).kind;
    now += static_cast<int64_t>(samples) * kSampleTime;
    return kind;
  }
};

}  // namespace

TEST_SUITE("receive path") {
  TEST_CASE("ignores payload types that were not negotiated for source and loss, but accepts static types") {
    Packets packets;
    CHECK(packets.send(97) == Received::unknown_source);
    CHECK(packets.send(0) == Received::audio);
    CHECK(packets.send(8) == Received::audio);
    CHECK(packets.send(13) == Received::comfort);
    CHECK(packets.send(101, 4) == Received::event);
    CHECK(packets.send(97) == Received::ignored);
    CHECK(packets.send(0) == Received::audio);
    CHECK(packets.path.unknown_sources() == 1);
    CHECK(packets.path.reception().lost == 0);
    CHECK(packets.path.reception().received == 6);
  }

  TEST_CASE("accepts wrapping sequence numbers and timestamps") {
    Packets packets;
    for (int i = 0; i < 50; ++i) CHECK(packets.send() == Received::audio);
    CHECK(packets.path.reception().lost == 0);
    CHECK(packets.path.store().complete(packets.path.store().end() - RtpTicks(2720), RtpTicks(2720)));
  }

  TEST_CASE("reports keys after the timestamps have jumped, and late packets of a key only once") {
    Packets packets;
    packets.timestamp = 0x8000'0000;
    const auto key = [&](uint16_t sequence, uint32_t timestamp, uint8_t flags) {
      std::vector<uint8_t> bytes(kRtpHeaderBytes + kTelephoneEventBytes);
      bytes[kRtpHeaderBytes] = 5;
      bytes[kRtpHeaderBytes + 1] = flags;
      write_rtp_header({false, 101, sequence, RtpTimestamp(timestamp), packets.ssrc}, bytes);
      return packets.path.receive(bytes, packets.from, packets.now).digit;
    };
    const auto press = [&] { return key(packets.sequence++, packets.timestamp, 10); };
    packets.send();
    CHECK(press() == '5');
    // Some gateways change the timestamps when they connect another party, by any distance. A pause of a day
    // has the same effect.
    for (const uint32_t jump :
         {0x7000'0000U, uint32_t{0} - 8000U, uint32_t{0} - 8000U * 3600U, 0x8000'1000U}) {
      packets.timestamp += jump;
      for (int i = 0; i < 20; ++i) packets.send();
      const auto sequence = packets.sequence;
      const uint32_t timestamp = packets.timestamp;
      CHECK(press() == '5');
      packets.send();
      CHECK(press() == '5');
      CHECK_FALSE(key(static_cast<uint16_t>(sequence - 1), timestamp, 10));
      // The end of a key is repeated, by some senders during the next one.
      CHECK_FALSE(key(packets.sequence++, timestamp, 0x8a));
      packets.send();
    }
  }

  TEST_CASE("counts a new SSRC from its second packet and ignores a single stray one (RFC 3550 A.1)") {
    Packets packets;
    for (int i = 0; i < 10; ++i) packets.send();
    packets.ssrc = 99;
    CHECK(packets.send() == Received::ignored);
    packets.ssrc = 1;
    CHECK(packets.send() == Received::audio);
    packets.ssrc = 2;
    packets.timestamp = 5;
    packets.sequence = 9;
    CHECK(packets.send() == Received::ignored);
    CHECK(packets.send() == Received::audio);
    CHECK(packets.send() == Received::audio);
  }

  TEST_CASE("counts a stream at a newly signalled address from its first packet") {
    Packets packets;
    for (int i = 0; i < 10; ++i) packets.send();
    // Another SSRC, and another sequence of the same SSRC.
    for (const uint32_t ssrc : {2U, 2U}) {
      packets.from.port += 2;
      packets.path.expect(packets.from, packets.now);
      packets.ssrc = ssrc;
      packets.sequence += 20'000;
      packets.timestamp += 7'000'000;
      for (int i = 0; i < 10; ++i) CHECK(packets.send() == Received::audio);
    }
    // Without a signalled change, another SSRC needs a second packet.
    packets.ssrc = 3;
    CHECK(packets.send() == Received::ignored);
    CHECK(packets.path.reception().lost == 0);
    CHECK(packets.path.reception().received == 30);
  }

  TEST_CASE("reports a keypad event to recordings also if it has another clock than the audio") {
    for (const int event_clock : {8000, 48'000}) {
      ReceivePath path{std::make_unique<JitterBuffer>(make_decoder({.coding = Coding::opus}))};
      ReceiveConfig config;
      config.source.signalled = address(7, 40000);
      config.coding = Coding::opus;
      config.payload_type = 96;
      config.telephone_event = 101;
      config.event_clock = RtpClockRate(event_clock);
      path.configure(config, Nanos{});
      std::vector<uint8_t> bytes(kRtpHeaderBytes + kTelephoneEventBytes);
      write_rtp_header({true, 101, 1, RtpTimestamp(9), 1}, bytes);
      bytes[kRtpHeaderBytes] = 5;
      write_u16(std::span(bytes).subspan(kRtpHeaderBytes), 2, static_cast<uint16_t>(event_clock / 50));
      const ReceivePath::Outcome outcome = path.receive(bytes, config.source.signalled, kSecond);
      const ReceivedPacket packet = path.recorded(outcome, 0, kSecond);
      CHECK(packet.kind == ReceivedPacket::Kind::event);
      CHECK(packet.duration == RtpTicks(960));
      CHECK(packet.timed == (event_clock == 48'000));
    }
  }

  TEST_CASE("stores the time of a keypad event as silence, without the future of a wrong duration") {
    for (const int event_clock : {8000, 48'000}) {
      Packets packets;
      ReceiveConfig config{{packets.from, {}, true, {}, false}, Coding::pcmu, 0, uint8_t{101}};
      config.event_clock = RtpClockRate(event_clock);
      packets.path.configure(config, Nanos{});
      for (int i = 0; i < 10; ++i) packets.send();
      const RtpTime before = packets.path.store().end();
      std::vector<uint8_t> bytes(kRtpHeaderBytes + kTelephoneEventBytes);
      write_rtp_header({true, 101, packets.sequence, RtpTimestamp(packets.timestamp), packets.ssrc}, bytes);
      bytes[kRtpHeaderBytes] = 5;
      write_u16(std::span(bytes).subspan(kRtpHeaderBytes), 2, 3200);
      CHECK(packets.path.receive(bytes, packets.from, packets.now).kind == Received::event);
      const RtpTime end = packets.path.store().end();
      CHECK(packets.path.store().complete(before, RtpTicks(160)));
      CHECK(end >= before + RtpTicks(160));
      CHECK(end <= before + RtpTicks(480));
    }
  }

  TEST_CASE("does not count a sender pause as loss (DTX)") {
    Packets packets;
    for (int i = 0; i < 10; ++i) packets.send();
    packets.timestamp += 1600;
    packets.now += 200 * kMillisecond;
    packets.send(0, kFrameSamples, true);
    CHECK(packets.path.reception().lost == 0);
    CHECK(packets.path.store().complete(packets.path.store().end() - RtpTicks(1920), RtpTicks(1920)));
  }

  TEST_CASE("restarts the buffer at the current packet if the timestamp jumps to another timeline") {
    Packets packets;
    for (int i = 0; i < 10; ++i) packets.send();
    const uint32_t generation = packets.path.store().generation();
    packets.timestamp += 1'000'000'000;
    packets.send();
    CHECK(packets.path.store().generation() != generation);
    Frame frame(kNarrowband);
    for (int i = 0; i < 10; ++i) {
      packets.send();
      packets.path.pop(packets.now, frame);
    }
    CHECK(test::rms(frame) > 1000);
  }

  TEST_CASE("yields the same frames for packets of 10 to 120 ms and of odd lengths") {
    for (const size_t samples : {80U, 160U, 240U, 333U, 480U, 960U}) {
      Packets packets;
      Frame frame(kNarrowband);
      size_t loud = 0;
      Nanos next_frame = packets.now;
      for (int i = 0; i < 60; ++i) {
        packets.send(0, samples);
        for (; next_frame < packets.now; next_frame += kFrameTime) {
          packets.path.pop(next_frame, frame);
          if (i > 30 && test::rms(frame) > 1000) ++loud;
        }
      }
      CAPTURE(samples);
      CHECK(loud >= 29 * samples / kFrameSamples);
    }
  }

  TEST_CASE("survives random packets from the right source") {
    std::mt19937 random(11);
    for (int round = 0; round < 20; ++round) {
      Packets packets;
      Frame frame(kNarrowband);
      for (int i = 0; i < 3000; ++i) {
        std::vector<uint8_t> bytes(random() % 2000);
        for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
        if (bytes.size() >= kRtpHeaderBytes && random() % 4 != 0) {
          const std::array<uint8_t, 5> types{0, 8, 13, 101, 97};
          const bool near = random() % 2 == 0;
          if (!near) packets.sequence = static_cast<uint16_t>(random());
          if (random() % 8 == 0) packets.timestamp = static_cast<uint32_t>(random());
          write_rtp_header({random() % 9 == 0, types[random() % types.size()], packets.sequence++,
                            RtpTimestamp(packets.timestamp += 160), random() % 16 == 0 ? 7U : 1U},
                           bytes);
        }
        packets.path.receive(bytes, packets.from, packets.now);
        packets.now += static_cast<int64_t>(random() % 40) * kMillisecond;
        packets.path.pop(packets.now, frame);
      }
      CHECK(packets.path.quality().loss_fraction <= 1);
    }
  }
}

}  // namespace carillon
