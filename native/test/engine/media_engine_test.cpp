#include "engine/media_engine.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <random>
#include <thread>

#include "core/leg/listeners.hpp"
#include "test/support/narrow.hpp"
#include "test/support/rtp_sink.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

const Address kLoopback = *parse_address("127.0.0.1", 0);

LegRemote remote_at(const Address& peer) {
  LegRemote remote;
  remote.receive.source.signalled = peer;
  remote.receive.telephone_event = remote.send.telephone_event = 101;
  remote.send.sending = true;
  return remote;
}

void configure(MediaEngine& engine, LegHandle leg, const LegRemote& remote) {
  engine.at_leg(leg, [remote](MediaLoop& loop, LegHandle at) {
    if (Leg* const found = loop.core().leg(at)) found->configure(remote, loop.now());
  });
}

}  // namespace

TEST_SUITE("event ring") {
  TEST_CASE("delivers records completely and in order, across the wrap") {
    RecordRing records(EventRing::kCapacity);
    EventRing ring(records);
    std::vector<uint8_t> out(100'000);
    std::vector<uint8_t> message(1100, 7);
    uint32_t sent = 0;
    uint32_t seen = 0;
    for (int round = 0; round < 400; ++round) {
      for (int i = 0; i < 80; ++i) ring.media(StreamHandle(sent++), message);
      ring.played(StreamHandle(sent++), {5, {}});
      while (const size_t bytes = records.take(out)) {
        for (size_t at = 0; at < bytes;) {
          uint32_t size = 0;
          uint32_t handle = 0;
          std::memcpy(&size, out.data() + at, 4);
          std::memcpy(&handle, out.data() + at + 8, 4);
          REQUIRE(handle == seen);
          ++seen;
          at += size;
        }
      }
    }
    CHECK(seen == sent);
    CHECK(records.dropped() == 0);
  }

  TEST_CASE("drops audio when full, but keeps space for the events that end a call") {
    RecordRing records(EventRing::kCapacity);
    EventRing ring(records);
    const std::vector<uint8_t> message(1100, 7);
    for (int i = 0; i < 20'000; ++i) ring.media(StreamHandle(1), message);
    const uint64_t dropped = records.dropped();
    CHECK(dropped > 0);
    for (int i = 0; i < 1000; ++i) ring.media_timeout(LegHandle(2), Nanos{});
    CHECK(records.dropped() == dropped);
  }
}

TEST_SUITE("leg handles") {
  TEST_CASE("handles of one kind do not convert to another kind or from a number") {
    using Member = std::unique_ptr<RoomMember>;
    using Join = decltype(&MediaCore::join);
    static_assert(std::is_invocable_v<Join, MediaCore&, RoomHandle, LegHandle, Member&>);
    static_assert(!std::is_invocable_v<Join, MediaCore&, LegHandle, RoomHandle, Member&>);
    static_assert(!std::is_invocable_v<Join, MediaCore&, uint32_t, uint32_t, Member&>);
    static_assert(!std::is_invocable_v<decltype(&Leg::remove_tap), Leg&, PlayerHandle>);
    static_assert(sizeof(LegHandle) == sizeof(uint32_t));
  }

  TEST_CASE("counts commands for objects that do not exist") {
    MediaEngine engine(MediaEngine::Drive::manual, kLoopback, [] {});
    const LegHandle leg = engine.open_leg(4000, {}).handle;
    bool bridged = true;
    bool joined = true;
    engine.on_thread(0, [&](MediaLoop& loop) {
      auto member = std::make_unique<RoomMember>(MemberHandle(1), MemberFlags{});
      bridged = loop.core().bridge(leg, LegHandle(leg.value() + 1));
      joined = loop.core().join(RoomHandle(7), leg, member);
      loop.core().missed();
    });
    CHECK_FALSE(bridged);
    CHECK_FALSE(joined);
    CHECK(engine.status().unknown_handles == 1);
  }

  TEST_CASE("are never 0, never have the top bit set and are not reused soon") {
    LegHandles handles(63);
    const LegHandle first = *handles.take();
    handles.give_back(first);
    for (int i = 0; i < 10'000; ++i) {
      const LegHandle handle = *handles.take();
      CHECK(handle != LegHandle());
      CHECK((handle.value() & 0x8000'0000U) == 0);
      CHECK(handle != first);
      handles.give_back(handle);
    }
    for (uint32_t i = 0; i < MediaCore::kMaxLegs; ++i) CHECK(handles.take());
    CHECK_FALSE(handles.take());
  }
}

TEST_SUITE("media engine in manual mode") {
  TEST_CASE(
      "random sequences of opening, talking, joining, recording and closing cause no error and no packet to "
      "an unknown source") {
    size_t threads = 0;
    SUBCASE("on one thread") { threads = 1; }
    SUBCASE("on three threads, with moves between them") { threads = 3; }
    std::mt19937 random(21);
    MediaEngine engine(MediaEngine::Drive::manual, kLoopback, [] {}, {.threads = threads, .little = 0});
    std::vector<LegHandle> legs;
    std::vector<uint8_t> events(1 << 20);
    const RoomHandle room(0x8000'0001U);
    engine.open_room(room);
    uint32_t handle = 1;
    uint16_t port = 10'000;
    for (int step = 0; step < 4000; ++step) {
      const auto pick = [&] { return legs.empty() ? LegHandle() : legs[random() % legs.size()]; };
      switch (random() % 10) {
        case 0: {
          const auto opened = engine.open_leg(port = static_cast<uint16_t>(port + 2), {});
          REQUIRE(opened.handle != LegHandle());
          legs.push_back(opened.handle);
          configure(engine, opened.handle, remote_at(*parse_address("192.0.2.1", port)));
          break;
        }
        case 1:
          if (legs.size() > 8) {
            const size_t index = random() % legs.size();
            CHECK(engine.close_leg(legs[index]));
            legs.erase(legs.begin() + static_cast<std::ptrdiff_t>(index));
          }
          break;
        case 2:
          engine.bridge(pick(), pick());
          break;
        case 3:
          engine.unbridge(pick(), pick());
          break;
        case 4:
          engine.join(room, pick(), std::make_unique<RoomMember>(MemberHandle(handle++), MemberFlags{}));
          break;
        case 5:
          engine.at_room(room, [room, member = MemberHandle(static_cast<uint32_t>(random() % handle)),
                                out = std::unique_ptr<RoomMember>()](MediaLoop& loop) mutable {
            out = loop.core().room(room)->leave(member, loop.core().events());
          });
          break;
        case 6: {
          std::unique_ptr<LegTap> tap = std::make_unique<SilenceTap>(TapHandle(handle++), 100, 300);
          engine.at_leg(pick(), [tap = std::move(tap)](MediaLoop& loop, LegHandle at) mutable {
            if (Leg* const found = loop.core().leg(at)) found->add(tap);
          });
          break;
        }
        default: {
          const LegHandle leg = pick();
          std::vector<uint8_t> packet(kRtpHeaderBytes + random() % 400);
          write_rtp_header(
              {false, 0, static_cast<uint16_t>(step), RtpTimestamp(static_cast<uint32_t>(step) * 160), 5},
              packet);
          engine.inject(engine.port_of(leg), *parse_address("192.0.2.1", engine.port_of(leg)), packet,
                        engine.now());
        }
      }
      engine.advance(static_cast<int64_t>(random() % 30) * kMillisecond);
      engine.take_events(events);
      for (const SentPacket& packet : engine.take_sent()) CHECK(format_ip(packet.to) == "192.0.2.1");
    }
  }

  TEST_CASE("advances timestamps over missed ticks instead of sending a burst") {
    RecordRing records(EventRing::kCapacity);
    EventRing events(records);
    struct Kept : RtpSink {
      std::vector<uint32_t> timestamps;
      void send(LegHandle, const Address&, Bytes packet) override {
        timestamps.push_back(read_u32(packet, 4));
      }
    } sink;
    MediaCore core(sink, events);
    LegConfig config;
    config.handle = LegHandle(MediaCore::kMaxLegs);
    core.add_leg(std::make_unique<Leg>(config));
    core.leg(config.handle)->configure(remote_at(*parse_address("192.0.2.1", 4000)), Nanos{});
    Nanos now{};
    for (int i = 0; i < 40; ++i) core.tick(now += kTick);
    core.skip_ticks(200);
    for (int i = 0; i < 40; ++i) core.tick(now += kTick);
    REQUIRE(sink.timestamps.size() == 4);
    CHECK(sink.timestamps[2] - sink.timestamps[1] == 11 * kFrameSamples);
    CHECK(core.counters().skipped_ticks == 200);
  }

  TEST_CASE("plays the peer's audio with the usual delay after skipped ticks") {
    RecordRing records(EventRing::kCapacity);
    EventRing events(records);
    struct : RtpSink {
      void send(LegHandle, const Address&, Bytes) override {}
    } sink;
    MediaCore core(sink, events);
    LegConfig config;
    config.handle = LegHandle(MediaCore::kMaxLegs);
    core.add_leg(std::make_unique<Leg>(config));
    const Address peer = *parse_address("192.0.2.1", 4000);
    core.leg(config.handle)->configure(remote_at(peer), Nanos{});
    std::array<uint8_t, kRtpHeaderBytes + kFrameSamples> packet{};
    uint16_t sequence = 0;
    const auto hear_until = [&](Nanos now) {
      for (; sequence * kFrameTime <= now; ++sequence) {
        write_rtp_header({false, 0, sequence, RtpTimestamp(sequence * uint32_t{kFrameSamples}), 9}, packet);
        core.receive(config.handle, packet, peer, sequence * kFrameTime);
      }
    };
    Nanos now{};
    const auto run = [&](int ticks) {
      for (int i = 0; i < ticks; ++i) {
        hear_until(now += kTick);
        core.tick(now);
      }
    };
    const auto delay = [&] { return core.peek(config.handle)->receive_path().playout_delay(); };
    run(2000);
    const Nanos usual = delay();
    CHECK(usual > Nanos{});
    core.skip_ticks(150);
    now += 150 * kTick;
    run(100);
    CHECK(delay() <= usual + kFrameTime);
  }
}

TEST_SUITE("media engine with threads") {
  TEST_CASE("wakes a resting thread for a command") {
    MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [] {});
    for (int i = 0; i < 3; ++i) {
      // Longer than the thread polls for more commands before it rests.
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      std::promise<void> ran;
      engine.on_thread(0, [&ran](MediaLoop&) { ran.set_value(); });
      // Without the wake-up it would take one second.
      CHECK(ran.get_future().wait_for(std::chrono::milliseconds(500)) == std::future_status::ready);
    }
  }

  TEST_CASE("echoes a peer's audio through a bridge over sockets, and stops cleanly") {
    MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [] {});
    uint16_t port = 33'000;
    const auto open = [&] {
      MediaEngine::Opened opened;
      do opened = engine.open_leg(port = static_cast<uint16_t>(port + 2), {});
      while (opened.handle == LegHandle());
      return std::pair{opened.handle, port};
    };
    const auto [a, port_a] = open();
    const auto [b, port_b] = open();
    Address peer_a = kLoopback;
    peer_a.port = port_b;
    Address peer_b = kLoopback;
    peer_b.port = port_a;
    configure(engine, a, remote_at(peer_a));
    configure(engine, b, remote_at(peer_b));
    for (int i = 0; i < 200 && engine.statistics(b)->packets_received < 5; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK(engine.statistics(b)->packets_received >= 5);
    CHECK(engine.close_leg(a));
    CHECK_FALSE(engine.close_leg(a));
    engine.stop();
  }

  TEST_CASE("asks for commands that exceed the queue although there are no events") {
    std::atomic<bool> called{false};
    MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [&called] { called = true; });
    std::promise<void> release;
    engine.on_thread(0, [released = release.get_future().share()](MediaLoop&) { released.wait(); });
    constexpr size_t kCommands = CommandQueue<MediaLoop>::kCapacity + 1000;
    std::atomic<size_t> count{0};
    for (size_t i = 0; i < kCommands; ++i) engine.on_thread(0, [&count](MediaLoop&) { ++count; });
    release.set_value();
    std::vector<uint8_t> batch(1000);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (count < kCommands && std::chrono::steady_clock::now() < deadline) {
      if (called.exchange(false)) engine.take_events(batch);
      std::this_thread::yield();
    }
    CHECK(count == kCommands);
    engine.stop();
  }

  TEST_CASE("opens no leg on a thread whose command queue is full") {
    MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [] {});
    std::promise<void> release;
    engine.on_thread(0, [released = release.get_future().share()](MediaLoop&) { released.wait(); });
    for (size_t i = 0; i < CommandQueue<MediaLoop>::kCapacity + 1; ++i)
      engine.on_thread(0, [](MediaLoop&) {});
    CHECK(engine.open_leg(41'304, {}).error == EBUSY);
    release.set_value();
    engine.stop();
  }

  TEST_CASE("drops datagrams of the shared port while a media thread is far behind, but no keys") {
    MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [] {});
    const MediaEngine::Opened opened = engine.open_leg(41'300, {});
    REQUIRE(opened.error == 0);
    std::promise<void> goes_on;
    engine.at_leg(opened.handle, [&](MediaLoop&, LegHandle) { goes_on.get_future().wait(); });
    constexpr size_t kDatagrams = 3 * CommandQueue<MediaLoop>::kCapacity;
    std::atomic<size_t> received{0};
    for (size_t i = 0; i < kDatagrams; ++i) {
      engine.post_datagram(opened.handle, [&](MediaLoop&, LegHandle) { return ++received > 0; });
    }
    std::atomic<bool> has_keys{false};
    engine.post_keys(opened.handle, [&](MediaLoop&, LegHandle) { return has_keys = true; });
    goes_on.set_value();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!has_keys && std::chrono::steady_clock::now() < until) {
      engine.repeat_keys();
      std::this_thread::yield();
    }
    CHECK(has_keys);
    CHECK(received <= CommandQueue<MediaLoop>::kCapacity);
    CHECK(received > 0);
    engine.stop();
  }
}

}  // namespace carillon
