#include "core/leg/send_path.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/codec/g711.hpp"
#include "core/codec/g711_codec.hpp"
#include "core/rtp/packet.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {

constexpr uint32_t kFirstTimestamp = 0xffff'ff00;  // wraps within the first frames
constexpr uint16_t kFirstSequence = 65'530;

/// Noise frames sent through a send path like in a leg, and the resulting packets.
struct SentPacket {
  std::vector<uint8_t> audio;    // all payloads concatenated
  std::vector<uint8_t> encoded;  // the input

  void run(SendPath& path, int frames, int packet_ms) {
    std::mt19937 random(static_cast<unsigned>(packet_ms));
    for (int i = 0; i < frames; ++i) {
      Frame frame(kNarrowband);
      for (Sample& sample : frame) sample = static_cast<Sample>(random());
      for (const Sample sample : frame) encoded.push_back(g711_encode(G711Law::mu, sample));
      path.put(frame);
      take(path.take_packet(), packet_ms);
      if (path.needs_half_frames()) take(path.take_packet(), packet_ms);
    }
  }

  void take(Bytes bytes, int packet_ms) {
    if (bytes.empty()) return;
    const auto packet = parse_rtp(bytes);
    REQUIRE(packet);
    CHECK(packet->payload.size() == static_cast<size_t>(packet_ms * 8));
    CHECK(packet->timestamp.value() == static_cast<uint32_t>(kFirstTimestamp + audio.size()));
    CHECK(packet->sequence == static_cast<uint16_t>(kFirstSequence + packets));
    CHECK(packet->marker == (packets == 0));
    audio.insert(audio.end(), packet->payload.begin(), packet->payload.end());
    ++packets;
  }

  int packets = 0;
};

SendPath sending(int packet_ms) {
  static NoProtection none;
  SendPath path(std::make_unique<Packetizer>(make_encoder({})), none, 1, kFirstSequence,
                RtpTimestamp(kFirstTimestamp));
  SendConfig config;
  config.packet_ms = packet_ms;
  config.telephone_event = 101;
  config.sending = true;
  Packetizer::Room room = Packetizer::room(kNarrowband);
  if (packet_ms != kFrameMs) path.wait_in(room);
  path.configure(config);
  return path;
}

}  // namespace

TEST_SUITE("send path") {
  TEST_CASE("sends the same octets with any packet time, without gaps (RFC 3550 §5.1)") {
    for (const int packet_ms : {10, 20, 30, 40, 50, 60}) {
      CAPTURE(packet_ms);
      SendPath path = sending(packet_ms);
      SentPacket sent;
      sent.run(path, 300, packet_ms);
      CHECK(sent.encoded.size() - sent.audio.size() < static_cast<size_t>(packet_ms * 8) + kFrameSamples);
      CHECK(std::equal(sent.audio.begin(), sent.audio.end(), sent.encoded.begin()));
      CHECK(path.payload_bytes() == ByteCount(sent.audio.size()));
    }
  }

  TEST_CASE("keeps a packet unchanged until the next frame is added") {
    SendPath path = sending(10);
    Frame frame(kNarrowband);
    frame.fill(1000);
    path.put(frame);
    const Bytes first = path.take_packet();
    const std::vector<uint8_t> copy(first.begin(), first.end());
    CHECK(std::equal(first.begin(), first.end(), copy.begin(), copy.end()));
    CHECK(copy.size() == kRtpHeaderBytes + 80);
    CHECK(std::count(copy.begin() + kRtpHeaderBytes, copy.end(), g711_encode(G711Law::mu, 1000)) == 80);
  }

  TEST_CASE("replaces audio by an event: drops pending audio while time advances (RFC 4733 §2.5.1)") {
    SendPath path = sending(30);
    Frame frame = kSilentFrame;
    path.put(frame);
    CHECK(path.take_packet().empty());
    TelephoneEventSender event;
    event.start('5', path.timestamp(), RtpTicks(160), 10);
    const auto packet = parse_rtp(path.event_packet(event.next()));
    path.skip_frame();
    REQUIRE(packet);
    CHECK(packet->payload_type == 101);
    CHECK(packet->payload.size() == kTelephoneEventBytes);
    CHECK(packet->payload[0] == 5);
    frame.fill(1000);
    path.put(frame);
    path.put(frame);
    const auto audio = parse_rtp(path.take_packet());
    REQUIRE(audio);
    CHECK(audio->timestamp.value() == static_cast<uint32_t>(kFirstTimestamp + 2 * kFrameSamples));
    CHECK(std::count(audio->payload.begin(), audio->payload.end(), g711_encode(G711Law::mu, 1000)) == 240);
  }

  TEST_CASE("drops the oldest audio if the visits between two frames are missed") {
    for (const int packet_ms : {10, 30, 50}) {
      CAPTURE(packet_ms);
      SendPath path = sending(packet_ms);
      const auto level_of = [](uint32_t frame) { return static_cast<Sample>(100 * (frame % 200)); };
      const auto samples = static_cast<uint32_t>(packet_ms) * 8;
      uint32_t packets = 0;
      for (uint32_t i = 0; i < 200; ++i) {
        Frame frame(kNarrowband);
        frame.fill(level_of(i));
        path.put(frame);
        const auto packet = parse_rtp(path.take_packet());
        if (!packet) continue;
        ++packets;
        REQUIRE(packet->payload.size() == samples);
        const uint32_t at = packet->timestamp.value() - kFirstTimestamp;
        CHECK(at + samples + 80 * 8 >= (i + 1) * kFrameSamples);
        for (uint32_t k = 0; k < samples; ++k) {
          REQUIRE(packet->payload[k] == g711_encode(G711Law::mu, level_of((at + k) / 160)));
        }
      }
      CHECK(packets >= 40);
    }
  }

  TEST_CASE("does not count packets that are not sent because keys are missing") {
    AwaitedProtection awaited;
    SendPath path = sending(20);
    path.protect_with(awaited);
    SentPacket sent;
    sent.run(path, 5, 20);
    CHECK(sent.packets == 0);
    CHECK(path.packets() == 0);
    CHECK(path.payload_bytes() == ByteCount());
  }
}

}  // namespace carillon
