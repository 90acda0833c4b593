#include "engine/socket_wheel.hpp"

#include <doctest/doctest.h>
#include <poll.h>

#include <ctime>
#include <thread>
#include <vector>

#include "core/rtp/packet.hpp"
#include "test/support/narrow.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon {

namespace {

struct NoPackets : RtpSink {
  void send(LegHandle, const Address&, Bytes) override {}
};

Nanos clock_now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * kSecond + Nanos(time.tv_nsec);
}

std::pair<UdpSocket, Address> bound() {
  static uint16_t port = 39'000;
  while (true) {
    const Address local = *parse_address("127.0.0.1", port++);
    if (auto bound = UdpSocket::bind(local); bound.error == 0) return {std::move(bound.socket), local};
  }
}

std::unique_ptr<Leg> leg_towards(LegHandle handle, const Address& peer) {
  LegConfig config;
  config.handle = handle;
  auto leg = std::make_unique<Leg>(config);
  LegRemote remote;
  remote.receive.source.signalled = peer;
  leg->configure(remote, Nanos{});
  return leg;
}

/// One leg on a wheel, and its peer. The wheel uses the real clock, because the kernel's arrival times do. A
/// test can advance it.
struct Wheel {
  static constexpr LegHandle kLeg{MediaCore::kMaxLegs + 3};

  Wheel() : core(sink, events) {
    auto [rtp, rtp_at] = bound();
    auto [rtcp, rtcp_at] = bound();
    auto [own, own_at] = bound();
    peer = std::move(own);
    peer_at = own_at;
    target = rtp_at;
    core.add_leg(leg_towards(kLeg, own_at));
    sockets.add(kLeg,
                {std::make_unique<UdpSocket>(std::move(rtp)), std::make_unique<UdpSocket>(std::move(rtcp))});
  }

  void send(int packets) {
    std::array<uint8_t, kRtpHeaderBytes + kFrameSamples> packet{};
    for (int i = 0; i < packets; ++i, ++sequence) {
      write_rtp_header({false, 0, sequence, RtpTimestamp(sequence * uint32_t{kFrameSamples}), 1}, packet);
      peer.send(target, packet);
    }
  }

  /// Runs `ticks` ticks, the first one `ahead` after now. Returns the number of received packets.
  uint64_t turn(int ticks, Nanos ahead = {}) {
    const uint64_t before = core.counters().packets_received;
    const Nanos wall_offset = clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC);
    const Nanos begin = clock_now(CLOCK_MONOTONIC) + ahead;
    for (int i = 0; i < ticks; ++i) sockets.drain(core, begin + i * kTick, wall_offset);
    return core.counters().packets_received - before;
  }

  NoEvents events;
  NoPackets sink;
  MediaCore core;
  SocketWheel sockets;
  UdpSocket peer;
  Address peer_at;
  Address target;
  uint16_t sequence = 1;
};

/// Legs whose packets are relayed immediately, and their peers, on a simulated clock.
struct Crowd {
  static constexpr size_t kLegs = 60;

  explicit Crowd(bool ring) : core(sink, events) {
    if (ring) sockets.begin_ring();
    for (uint32_t i = 0; i < kLegs; ++i) {
      auto [rtp, rtp_at] = bound();
      auto [rtcp, rtcp_at] = bound();
      auto [own, own_at] = bound();
      const LegHandle handle(static_cast<uint32_t>(MediaCore::kMaxLegs) + i);
      core.add_leg(leg_towards(handle, own_at));
      peers.push_back({std::move(own), rtp_at, rtp.descriptor()});
      sockets.add(handle, {std::make_unique<UdpSocket>(std::move(rtp)),
                           std::make_unique<UdpSocket>(std::move(rtcp))});
      sockets.prompt(handle, true);
    }
  }

  void say(size_t peer) {
    std::array<uint8_t, kRtpHeaderBytes + kFrameSamples> packet{};
    write_rtp_header({false, 0, sequence, RtpTimestamp(sequence * uint32_t{kFrameSamples}), 1}, packet);
    peers[peer].socket.send(peers[peer].target, packet);
  }

  /// Runs twenty ticks. In the third one, all except the first `silent` legs send. Returns the number of
  /// received packets.
  uint64_t frame(size_t silent = 0) {
    const uint64_t before = core.counters().packets_received;
    for (int tick = 0; tick < 20; ++tick) {
      if (tick == 2) {
        ++sequence;
        for (size_t i = silent; i < kLegs; ++i) {
          say(i);
          pollfd any{peers[i].leg_socket, POLLIN, 0};
          REQUIRE(::poll(&any, 1, 10'000) == 1);
        }
      }
      sockets.drain(core, now += kTick, {});
    }
    return core.counters().packets_received - before;
  }

  struct Peer {
    UdpSocket socket;
    Address target;
    int leg_socket;
  };

  NoEvents events;
  NoPackets sink;
  MediaCore core;
  SocketWheel sockets;
  std::vector<Peer> peers;
  uint16_t sequence = 1;
  Nanos now = clock_now(CLOCK_MONOTONIC);
};

/// Returns a wheel after steps that took less than 1 ms and found their packets. On a busy machine the test
/// can be preempted between a packet and its poll, or the kernel can deliver late.
template <typename Steps>
std::unique_ptr<Wheel> undisturbed(Steps steps) {
  for (int attempt = 1;; ++attempt) {
    auto wheel = std::make_unique<Wheel>();
    const Nanos begin = clock_now(CLOCK_MONOTONIC);
    const bool found = steps(*wheel);
    if (found && clock_now(CLOCK_MONOTONIC) - begin < kMillisecond) return wheel;
    // Preemption or late delivery lasts for a while.
    REQUIRE(attempt < 2000);
    std::this_thread::yield();
  }
}

}  // namespace

TEST_SUITE("socket wheel") {
  TEST_CASE("receives a packet on time with the first poll, and polls again 20 ms later") {
    const auto wheel = undisturbed([](Wheel& fresh) {
      fresh.send(1);
      return fresh.turn(1) == 1;
    });
    wheel->send(1);
    CHECK(wheel->turn(18) == 0);
    CHECK(wheel->turn(4) == 1);
  }

  TEST_CASE("receives a second packet that arrived with the first one at the next poll") {
    uint64_t taken = 0;
    const auto wheel = undisturbed([&](Wheel& fresh) {
      fresh.send(1);
      const bool first = fresh.turn(1) == 1;
      fresh.send(2);
      // The poll 20 ms later finds the packet that arrived just before.
      taken = fresh.turn(20, -19 * kMillisecond);
      return first && taken != 0;
    });
    CHECK(taken == 1);
    wheel->send(1);
    CHECK(wheel->turn(23, 5 * kMillisecond) == 2);
  }

  TEST_CASE("receives waiting datagrams immediately, 32 per poll") {
    Wheel wheel;
    wheel.send(20);
    CHECK(wheel.turn(1, 5 * kMillisecond) == 20);
    wheel.send(50);
    std::vector<uint64_t> looks;
    for (int tick = 0; tick < 25; ++tick) {
      if (const uint64_t taken = wheel.turn(1, (25 + tick) * kMillisecond)) looks.push_back(taken);
    }
    CHECK(looks == std::vector<uint64_t>{32, 18});
  }

  TEST_CASE("receives all waiting datagrams after a stall before the next frame") {
    Wheel wheel;
    wheel.send(20);
    CHECK(wheel.turn(1, 5 * kMillisecond) == 20);
    wheel.send(120);
    const uint64_t before = wheel.core.counters().packets_received;
    const Nanos wall_offset = clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC);
    // The kernel's arrival times stay valid.
    const Nanos now = clock_now(CLOCK_MONOTONIC) + 1500 * kMillisecond;
    wheel.sockets.catch_up(wheel.core, now, wall_offset, 1500 * kMillisecond);
    CHECK(wheel.core.counters().packets_received - before == 120);
    CHECK(now - wheel.core.peek(Wheel::kLeg)->receive_path().last_arrival() > kSecond);
  }

  TEST_CASE("stops polling an inactive socket and is notified of its next packet") {
    const auto wheel = std::make_unique<Wheel>();
    CHECK(wheel->sockets.at_rest());
    wheel->send(1);
    CHECK(wheel->turn(1) == 1);
    CHECK(wheel->sockets.idle_ticks(5) == 5);
    int ticks = 0;
    while (!wheel->sockets.at_rest() && ticks < 100) {
      CHECK(wheel->turn(1, ++ticks * kMillisecond) == 0);
    }
    CHECK(ticks > 20);
    CHECK(ticks < 60);
    wheel->send(2);
    wheel->sockets.resting().wait(10 * kSecond);
    CHECK(wheel->turn(1, 100 * kMillisecond) == 2);
    CHECK_FALSE(wheel->sockets.at_rest());
  }

  TEST_CASE("counts two or more prompt datagrams per tick as many, until there are fewer") {
    Wheel wheel;
    wheel.sockets.prompt(Wheel::kLeg, true);
    wheel.send(1);
    wheel.sockets.resting().wait(10 * kSecond);
    REQUIRE(wheel.turn(1) == 1);
    Nanos now = clock_now(CLOCK_MONOTONIC);
    // Polls this often per tick, and finds one datagram each time.
    const auto look = [&](int ticks, int looks) {
      for (int i = 0; i < ticks * looks; ++i) {
        wheel.send(1);
        wheel.sockets.resting().wait(10 * kSecond);
        wheel.sockets.drain_prompt(wheel.core, now += kTick / looks, {});
      }
    };
    look(60, 1);
    CHECK_FALSE(wheel.sockets.many_prompt());
    look(60, 4);
    CHECK(wheel.sockets.many_prompt());
    look(60, 1);
    CHECK_FALSE(wheel.sockets.many_prompt());
  }

  TEST_CASE("polls regular peers by time if many datagrams are relayed, and is notified of late ones") {
    for (const bool ring : {false, true}) {
      CAPTURE(ring);
      Crowd crowd(ring);
      // Until the arrival times are known, the kernel reports each packet.
      for (int frame = 0; frame < 30; ++frame) CHECK(crowd.frame() == Crowd::kLegs);
      CHECK(crowd.sockets.many_prompt());
      CHECK_FALSE(crowd.sockets.any_prompt(crowd.now));
      CHECK(crowd.frame() == Crowd::kLegs);
      // The first packet is later than the polling period.
      CHECK(crowd.frame(1) == Crowd::kLegs - 1);
      CHECK(crowd.sockets.any_prompt(crowd.now));
      crowd.say(0);
      crowd.sockets.resting().wait(10 * kSecond);
      const uint64_t before = crowd.core.counters().packets_received;
      crowd.sockets.drain_prompt(crowd.core, crowd.now += kTick / 2, {});
      CHECK(crowd.core.counters().packets_received == before + 1);
    }
  }

  TEST_CASE("sends delayed packets before a socket is returned or connected to another address") {
    for (const bool ring : {false, true}) {
      CAPTURE(ring);
      Wheel wheel;
      if (ring) wheel.sockets.begin_ring();
      wheel.sockets.connect(Wheel::kLeg, wheel.peer_at);
      const std::array<uint8_t, 3> packet{1, 2, 3};
      wheel.sockets.send(Wheel::kLeg, wheel.peer_at, packet);
      wheel.sockets.connect(Wheel::kLeg, std::nullopt);
      pollfd any{wheel.peer.descriptor(), POLLIN, 0};
      REQUIRE(::poll(&any, 1, 10'000) == 1);
      UdpSocket::Buffer buffer;
      REQUIRE(buffer.receive(wheel.peer));
      wheel.sockets.connect(Wheel::kLeg, wheel.peer_at);
      wheel.sockets.send(Wheel::kLeg, wheel.peer_at, packet);
      CHECK(wheel.sockets.remove(Wheel::kLeg).pair[0] != nullptr);
      CHECK(::poll(&any, 1, 10'000) == 1);
    }
  }

  TEST_CASE("receives all waiting packets after unsuccessful polls: a late one and its successor") {
    Wheel wheel;
    CHECK(wheel.turn(3) == 0);
    wheel.send(2);
    CHECK(wheel.turn(10) == 2);
  }

  TEST_CASE("keeps the newest connections of a leg, and returns all others to the caller") {
    Wheel wheel;
    const auto path = [](uint16_t port) {
      return std::make_shared<StreamPath>(FileDescriptor(), *parse_address("192.0.2.1", port));
    };
    const std::shared_ptr<StreamPath> first = path(1);
    std::shared_ptr<StreamPath> given = first;
    const auto receive = [&] { wheel.sockets.receive_shared(Wheel::kLeg, given, {}, wheel.core, kSecond); };
    receive();
    CHECK(given == nullptr);
    given = first;
    receive();
    CHECK(given == first);
    for (uint16_t port = 2; port <= 8; ++port) {
      given = path(port);
      receive();
      CHECK(given == nullptr);
    }
    given = path(9);
    receive();
    CHECK(given == first);
    given.reset();
    CHECK(first.use_count() == 1);
    CHECK(first->older == nullptr);
    const SocketWheel::Removed removed = wheel.sockets.remove(Wheel::kLeg);
    size_t count = 0;
    for (const StreamPath* one = removed.streams.get(); one != nullptr; one = one->older.get()) {
      CHECK(one->peer().port == 9 - count++);
    }
    CHECK(count == 8);
  }

  TEST_CASE("ends the connections of a removed leg, but not those of a leg that moves") {
    Wheel wheel;
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const FileDescriptor peer(ends[1]);
    auto path = std::make_shared<StreamPath>(FileDescriptor(ends[0]), *parse_address("192.0.2.1", 1));
    wheel.sockets.receive_shared(Wheel::kLeg, path, {}, wheel.core, kSecond);
    pollfd ended{peer.get(), POLLIN, 0};
    SocketWheel::Departed departed = wheel.sockets.release(Wheel::kLeg);
    CHECK(::poll(&ended, 1, 0) == 0);
    wheel.sockets.receive(Wheel::kLeg, departed);
    const SocketWheel::Removed removed = wheel.sockets.remove(Wheel::kLeg);
    CHECK(removed.streams != nullptr);
    CHECK(::poll(&ended, 1, 10'000) == 1);
  }

  TEST_CASE("returns the open sockets of a removed leg and polls nothing in its place") {
    Wheel wheel;
    wheel.send(1);
    const SocketWheel::Pair sockets = wheel.sockets.remove(Wheel::kLeg).pair;
    REQUIRE(sockets[0]);
    CHECK(sockets[0]->open());
    CHECK(sockets[1]->open());
    CHECK(wheel.turn(40) == 0);
    CHECK(wheel.sockets.remove(Wheel::kLeg).pair[0] == nullptr);
  }
}

}  // namespace carillon
