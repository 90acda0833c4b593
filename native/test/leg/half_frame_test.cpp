#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "core/media_core.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/narrow.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon {

namespace {

constexpr LegHandle kLeg{MediaCore::kMaxLegs + 1};

/// Two cores with one clock; records when packets are sent by either.
struct Cores : RtpSink {
  void send(LegHandle, const Address&, Bytes packet) override {
    CHECK(packet.size() == kRtpHeaderBytes + octets);
    sent.push_back(tick);
  }

  /// Runs a leg with the given packet time and returns the ticks in which it sends. `at` is called before
  /// each tick.
  template <typename At>
  std::vector<int> sent_in(int packet_ms, int ticks, At at) {
    octets = static_cast<size_t>(packet_ms) * 8;
    LegConfig config;
    config.handle = kLeg;
    config.keep_alive = kFrameTime;
    auto leg = std::make_unique<Leg>(config);
    LegRemote remote;
    remote.receive.source.signalled = *parse_address("192.0.2.1", 4000);
    remote.send.sending = true;
    remote.send.packet_ms = packet_ms;
    Packetizer::Room room = Packetizer::room(kNarrowband);
    LegCodecs codecs({}, 0);
    codecs.waiting = room;
    leg->configure(remote, kSecond, &codecs);
    const auto tone =
        std::make_shared<const Clip>(Clip{kNarrowband, std::vector<Sample>(kFrameSamples, Sample{1000})});
    Player::Options options;
    options.handle = PlayerHandle(1);
    options.times = 0;
    auto player = std::make_unique<Player>(options, tone);
    static_cast<void>(leg->add(player));
    first.add_leg(std::move(leg));
    for (tick = 0; tick < ticks; ++tick) {
      at(tick);
      first.tick(kSecond + tick * kTick);
      second.tick(kSecond + tick * kTick);
    }
    return sent;
  }

  NoEvents events;
  MediaCore first{*this, events};
  MediaCore second{*this, events};
  size_t octets = 0;
  int tick = 0;
  std::vector<int> sent;
};

/// Returns the differences between consecutive times.
std::vector<int> intervals(const std::vector<int>& times) {
  std::vector<int> between;
  for (size_t i = 1; i < times.size(); ++i) between.push_back(times[i] - times[i - 1]);
  return between;
}

}  // namespace

TEST_SUITE("half frames") {
  TEST_CASE("sends 30 ms packets every 30 ms") {
    Cores cores;
    const std::vector<int> sent = cores.sent_in(30, 400, [](int) {});
    CHECK(sent.size() >= 12);
    CHECK(intervals(sent) == std::vector<int>(sent.size() - 1, 30));
  }

  TEST_CASE("sends the half frame of a moved leg on its new core") {
    for (int moved_at = 100; moved_at < 160; ++moved_at) {
      Cores cores;
      const std::vector<int> sent = cores.sent_in(30, 400, [&](int tick) {
        if (tick != moved_at) return;
        MediaCore::Departed departed = cores.first.release_leg(kLeg);
        cores.second.receive_leg(departed, kSecond + tick * kTick);
      });
      CHECK(intervals(sent) == std::vector<int>(sent.size() - 1, 30));
    }
  }

  TEST_CASE("sends whole packets after many moves that took longer than a frame") {
    Cores cores;
    MediaCore::Departed departed;
    const std::vector<int> sent = cores.sent_in(30, 4000, [&](int tick) {
      const bool is_first = tick / 100 % 2 == 0;
      if (tick % 100 == 50) departed = (is_first ? cores.first : cores.second).release_leg(kLeg);
      if (tick % 100 == 95) {
        (is_first ? cores.second : cores.first).receive_leg(departed, kSecond + tick * kTick);
      }
    });
    CHECK(sent.size() >= 60);
  }

  TEST_CASE("does not send a half frame twice after skipped ticks") {
    for (int skipped = 1; skipped < 45; ++skipped) {
      Cores cores;
      const std::vector<int> sent = cores.sent_in(30, 400, [&](int tick) {
        if (tick == 100) cores.first.skip_ticks(skipped);
      });
      CHECK(sent.size() >= 11);
      for (const int between : intervals(sent)) CHECK(between >= 10);
    }
  }
}

}  // namespace carillon
