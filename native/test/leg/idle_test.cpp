#include <doctest/doctest.h>

#include <map>
#include <random>

#include "core/media_core.hpp"
#include "core/rtp/packet.hpp"
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

/// Core with two legs that records the RTP they send by leg and time.
struct Side : RtpSink {
  explicit Side(Nanos keep_alive) : core(*this, events) {
    for (const LegHandle handle : {kA, kB}) {
      LegConfig config;
      config.handle = handle;
      config.keep_alive = keep_alive;
      core.add_leg(std::make_unique<Leg>(config));
    }
  }

  void send(LegHandle leg, const Address&, Bytes packet) override {
    packets[{leg.value(), now}] = {packet.begin(), packet.end()};
  }

  void configure(LegHandle leg, bool sending, bool comfort_noise = false) {
    LegRemote remote;
    if (comfort_noise) remote.send.comfort_noise = kComfortNoise;
    remote.receive.source.signalled = leg == kA ? kPeerA : kPeerB;
    remote.receive.source.receiving = remote.send.sending = sending;
    core.leg(leg)->configure(remote, now);
  }
  void play(LegHandle leg, uint32_t player) {
    const auto clip =
        std::make_shared<const Clip>(Clip{kNarrowband, std::vector<Sample>(5 * kFrameSamples, Sample{1000})});
    Player::Options options;
    options.handle = PlayerHandle(player);
    auto made = std::make_unique<Player>(options, clip);
    if (!core.leg(leg)->add(made)) core.leg(leg)->remove_player(PlayerHandle(player - 8));
  }
  void hear(LegHandle leg, uint16_t sequence, uint32_t timestamp) {
    std::array<uint8_t, kRtpHeaderBytes + kFrameSamples> packet{};
    write_rtp_header({false, 0, sequence, RtpTimestamp(timestamp), 9}, packet);
    core.receive(leg, packet, leg == kA ? kPeerA : kPeerB, now);
  }

  RecordRing records{EventRing::kCapacity};
  EventRing events{records};
  MediaCore core;
  Nanos now = kSecond;
  std::map<std::pair<uint32_t, Nanos>, std::vector<uint8_t>> packets;
};

}  // namespace

TEST_SUITE("sleeping legs") {
  TEST_CASE("sends the same packets at the same times as legs that never sleep, except for omitted silence") {
    size_t left_out = 0;
    for (unsigned seed = 1; seed <= 30; ++seed) {
      std::mt19937 random(seed);
      Side idle(15 * kSecond);
      Side awake(kFrameTime);
      const auto both = [&](auto step) {
        for (Side* const side : {&idle, &awake}) step(*side);
      };
      uint32_t player = 0;
      for (int step = 0; step < 60; ++step) {
        const LegHandle leg = random() % 2 == 0 ? kA : kB;
        const bool heard = seed % 3 == 0 && step > 40;
        switch (random() % 8) {
          case 0:
            both([&](Side& side) { side.configure(leg, true); });
            break;
          case 1:
            both([&](Side& side) { side.configure(leg, false); });
            break;
          case 2:
            ++player;
            both([&](Side& side) { side.play(leg, player); });
            break;
          case 3:
            both([&](Side& side) { side.core.leg(leg)->remove_player(PlayerHandle(player)); });
            break;
          case 4:
            both([&](Side& side) { side.core.bridge(kA, kB); });
            break;
          case 5:
            both([&](Side& side) { side.core.unbridge(kA, kB); });
            break;
          case 6:
            if (heard) both([&](Side& side) { side.hear(leg, 7, 160); });
            break;
          default:
            both([&](Side& side) { side.core.skip_ticks(33); });
        }
        for (auto ticks = random() % 300; ticks > 0; --ticks) {
          both([](Side& side) { side.core.tick(side.now += kTick); });
        }
      }
      REQUIRE(!idle.packets.empty());
      left_out += awake.packets.size() - idle.packets.size();
      for (const auto& [when, packet] : idle.packets) {
        const auto same = awake.packets.find(when);
        REQUIRE(same != awake.packets.end());
        // Compare all except the marker and the sequence number.
        CHECK(std::equal(packet.begin() + 4, packet.end(), same->second.begin() + 4, same->second.end()));
      }
      for (const auto& [when, packet] : awake.packets) {
        const auto silence = static_cast<std::ptrdiff_t>(kRtpHeaderBytes);
        const bool silent = std::count(packet.begin() + silence, packet.end(), uint8_t{0xff}) ==
                            static_cast<std::ptrdiff_t>(kFrameSamples);
        CHECK((silent || idle.packets.contains(when)));
      }
    }
    CHECK(left_out > 3000);
  }

  TEST_CASE("stops visiting a silent peer, on hold or not, and plays its next audio in time") {
    for (const bool held : {false, true}) {
      Side side(15 * kSecond);
      const auto run = [&](int ticks) {
        while (ticks-- > 0) side.core.tick(side.now += kTick);
      };
      side.configure(kA, !held);
      run(20);
      for (uint16_t i = 0; i < 10; ++i) {
        side.hear(kA, i, i * uint32_t{kFrameSamples});
        run(kFrameMs);
      }
      CHECK_FALSE(side.core.at_rest());
      run(3000);
      CHECK(side.core.at_rest());
      const size_t before = side.packets.size();
      run(5000);
      CHECK(side.packets.size() - before <= 1);
      // Packets without a marker after five seconds or more.
      for (uint16_t i = 10; i < 15; ++i) {
        side.hear(kA, i, 64'000 + i * uint32_t{kFrameSamples});
        run(kFrameMs);
      }
      CHECK(side.core.peek(kA)->received().samples[80] < -10'000);
      CHECK(side.core.peek(kA)->receive_path().playout().late_packets == 0);
    }
  }

  TEST_CASE("visits legs that only relay once a second, and ends the relay in time") {
    Side side(15 * kSecond);
    side.configure(kA, true);
    side.configure(kB, true);
    side.core.bridge(kA, kB);
    const auto figures = side.core.peek(kB)->statistics();
    uint16_t sequence = 0;
    int awake = 0;
    uint64_t most_behind = 0;
    const auto run = [&](int frames, bool talking) {
      for (int i = 0; i < frames * kFrameMs; ++i) {
        if (talking && i % kFrameMs == 0) {
          ++sequence;
          side.hear(kA, sequence, sequence * 160U);
          side.hear(kB, sequence, sequence * 160U);
        }
        side.core.tick(side.now += kTick);
        awake += side.core.at_rest() ? 0 : 1;
        most_behind = std::max(most_behind, sequence - figures->counts.read().packets_received);
      }
    };
    run(50, true);
    REQUIRE(side.core.peek(kA)->relays());
    REQUIRE(side.core.peek(kB)->relays());
    awake = 0;
    most_behind = 0;
    run(500, true);
    // A visit follows within 20 ms of the alarm. Reports need some more.
    CHECK(awake < 300);
    CHECK(most_behind > 20);
    CHECK(most_behind <= 52);
    // Relaying ends 200 ms after the last packet.
    run(9, false);
    CHECK(side.core.peek(kA)->relays());
    run(4, false);
    CHECK_FALSE(side.core.peek(kA)->relays());
    CHECK_FALSE(side.core.peek(kB)->relays());
  }

  TEST_CASE("rests until the first alarm while all legs sleep") {
    Side side(15 * kSecond);
    const auto run = [&](int ticks) {
      while (ticks-- > 0) side.core.tick(side.now += kTick);
    };
    run(1);
    CHECK(side.core.at_rest());  // not configured yet
    side.configure(kA, true);
    CHECK_FALSE(side.core.at_rest());
    run(20);
    CHECK(side.packets.size() == 1);
    REQUIRE(side.core.at_rest());
    // The next report is due before the next packet.
    CHECK(*side.core.next_alarm() - side.now > 2 * kSecond);
    CHECK(*side.core.next_alarm() - side.now < 8 * kSecond);
    side.hear(kA, 1, 160);
    CHECK_FALSE(side.core.at_rest());
    run(200);
    CHECK_FALSE(side.core.at_rest());
    side.core.remove_leg(kA, side.now);
    CHECK(side.core.at_rest());
  }

  TEST_CASE(
      "starts silence with comfort noise for peers that support it, and sends no other packets while "
      "asleep") {
    Side side(15 * kSecond);
    side.configure(kA, true, true);
    side.play(kA, 1);
    const auto run = [&](Nanos time) {
      side.packets.clear();
      for (const Nanos until = side.now + time; side.now < until;) side.core.tick(side.now += kTick);
    };
    const auto comfort = [](const std::vector<uint8_t>& packet) {
      return (packet[1] & 0x7f) == kComfortNoise;
    };
    run(40 * kSecond);
    std::vector<Nanos> at;
    Nanos last_audio{};
    for (const auto& [key, packet] : side.packets) {
      if (!comfort(packet)) {
        last_audio = key.second;
        CHECK(at.empty());
        continue;
      }
      at.push_back(key.second);
      CHECK(packet.size() == kRtpHeaderBytes + 1);
      CHECK((packet[1] & 0x80) == 0);
      CHECK(packet[kRtpHeaderBytes] == 70);
    }
    REQUIRE(at.size() == 3);
    CHECK(at[0] - last_audio == kFrameTime);
    CHECK(at[1] - at[0] == 15 * kSecond);
    CHECK(at[2] - at[1] == 15 * kSecond);
    const auto before = side.packets.rbegin();
    const auto stamp_before = read_u32(before->second, 4);
    const Nanos sent_before = before->first.second;

    side.play(kA, 2);
    run(200 * kMillisecond);
    const auto& [key, first] = *side.packets.begin();
    CHECK_FALSE(comfort(first));
    CHECK((first[1] & 0x80) != 0);
    CHECK(read_u32(first, 4) - stamp_before ==
          static_cast<uint32_t>((key.second - sent_before) / kMillisecond) * 8);
    CHECK(comfort(side.packets.rbegin()->second));
  }

  TEST_CASE("does not send comfort noise to peers without support, or with continuous silence packets") {
    for (const bool understood : {false, true}) {
      Side side(understood ? kFrameTime : 15 * kSecond);
      side.configure(kA, true, understood);
      side.play(kA, 1);
      for (int i = 0; i < 20'000; ++i) side.core.tick(side.now += kTick);
      for (const auto& [key, packet] : side.packets) CHECK((packet[1] & 0x7f) == 0);
    }
  }
}

}  // namespace carillon
