// Packets of many legs in one tick, which share the memory for outgoing packets.
#include "core/rtp/packet_room.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/media_core.hpp"
#include "engine/socket_address.hpp"
#include "test/support/narrow.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon {

namespace {

constexpr uint32_t kLegs = 60;
constexpr uint32_t kFirstLeg = MediaCore::kMaxLegs;
constexpr uint32_t kFirstSsrc = 77;

/// Core whose legs are visited in one tick. Keeps the packets of the first one.
struct OneSlot : RtpSink {
  void send(LegHandle leg, const Address&, Bytes packet) override {
    if (leg == LegHandle(kFirstLeg)) packets.emplace_back(packet.begin(), packet.end());
  }

  void add(uint32_t index, const CodecSpec& codec, std::unique_ptr<PacketProtection> protection) {
    LegConfig config;
    config.handle = LegHandle(kFirstLeg + index);
    config.ssrc = kFirstSsrc + index;
    LegCodecs codecs(codec, 0);
    auto leg = std::make_unique<Leg>(config);
    LegRemote remote;
    remote.receive.source.signalled = *parse_address("192.0.2.1", 4000);
    remote.receive.coding = remote.send.coding = codec.coding;
    remote.send.sending = true;
    leg->configure(remote, kSecond, &codecs);
    if (protection) leg->protect_with(protection);
    // A moved leg keeps its slot.
    MediaCore::Departed moved{std::move(leg), 0, 0};
    core.receive_leg(moved, kSecond);
  }

  /// Adds the first leg, and others that `add_silent` creates.
  template <typename AddSilent>
  void run(AddSilent add_silent) {
    add(0, {}, nullptr);
    for (uint32_t i = 1; i < kLegs; ++i) add_silent(i);
    for (int tick = 0; tick < 1000; ++tick) core.tick(kSecond + tick * kTick);
    REQUIRE(packets.size() >= 49);
    for (const std::vector<uint8_t>& bytes : packets) {
      const auto packet = parse_rtp(bytes);
      REQUIRE(packet);
      CHECK(packet->ssrc == kFirstSsrc);
      // Silence in mu-law.
      CHECK(packet->payload.size() == kFrameSamples);
      CHECK(std::ranges::count(packet->payload, uint8_t{0xff}) == static_cast<int64_t>(kFrameSamples));
    }
  }

  NoEvents events;
  MediaCore core{*this, events};
  std::vector<std::vector<uint8_t>> packets;
};

}  // namespace

TEST_SUITE("packet room") {
  TEST_CASE("a packet stays unchanged while other legs in the tick wait for their keys") {
    OneSlot slot;
    slot.run([&](uint32_t index) { slot.add(index, {}, std::make_unique<AwaitedProtection>()); });
  }

  TEST_CASE("a packet stays unchanged while other legs in the tick are in discontinuous transmission") {
    OneSlot slot;
    const CodecSpec opus{.coding = Coding::opus, .sample_rate = SampleRate(48000), .dtx = true};
    slot.run([&](uint32_t index) { slot.add(index, opus, nullptr); });
  }
}

}  // namespace carillon
