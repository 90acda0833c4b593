// Tests the move of legs between media threads to join a bridge or a room.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <thread>

#include "engine/media_engine.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {

const Address kLoopback = *parse_address("127.0.0.1", 0);
constexpr RoomHandle kRoom(kRoomBit | 1);

LegRemote remote_at(const Address& peer) {
  LegRemote remote;
  remote.receive.source.signalled = peer;
  remote.send.sending = true;
  return remote;
}

void configure(MediaEngine& engine, LegHandle leg, const LegRemote& remote) {
  engine.at_leg(leg, [remote](MediaLoop& loop, LegHandle at) {
    if (Leg* const found = loop.core().leg(at)) found->configure(remote, loop.now());
  });
}

std::vector<uint8_t> packet_of(uint32_t number, uint32_t ssrc) {
  std::vector<uint8_t> packet(kRtpHeaderBytes + kNarrowFrame, static_cast<uint8_t>(0x80 + number % 64));
  write_rtp_header({false, 0, static_cast<uint16_t>(number), RtpTimestamp(number * 160), ssrc}, packet);
  return packet;
}

struct Heard {
  Nanos at;
  uint16_t sequence;
  uint32_t timestamp;
};

/// Checks that the packets of a stream have no gap in sequence numbers or timestamps.
void check_unbroken(const std::vector<Heard>& heard) {
  REQUIRE(heard.size() > 10);
  for (size_t i = 1; i < heard.size(); ++i) {
    REQUIRE(static_cast<uint16_t>(heard[i].sequence - heard[i - 1].sequence) == 1);
    REQUIRE(heard[i].timestamp - heard[i - 1].timestamp == 160);
  }
}

}  // namespace

TEST_SUITE("leg moves") {
  TEST_CASE("moves both legs of a bridge to one thread without packet loss for either peer") {
    MediaEngine engine(MediaEngine::Drive::manual, kLoopback, [] {}, {.threads = 2, .little = 0});
    std::array<LegHandle, 2> legs;
    for (uint16_t i = 0; i < 2; ++i) {
      const auto port = static_cast<uint16_t>(4000 + 2 * i);
      legs[i] = engine.open_leg(port, {}).handle;
      configure(engine, legs[i], remote_at(*parse_address("192.0.2.1", port)));
    }
    REQUIRE(engine.thread_of(legs[0]) != engine.thread_of(legs[1]));
    std::array<std::vector<Heard>, 2> heard;
    uint32_t said = 0;
    const auto talk = [&](int frames) {
      for (; frames > 0; --frames) {
        for (uint16_t i = 0; i < 2; ++i) {
          const auto port = static_cast<uint16_t>(4000 + 2 * i);
          engine.inject(port, *parse_address("192.0.2.1", port), packet_of(said, 7U + i), engine.now());
        }
        ++said;
        engine.advance(kFrameTime);
        for (const SentPacket& packet : engine.take_sent()) {
          if (packet.local_port % 2 != 0) continue;
          heard[(packet.local_port - 4000U) / 2].push_back(
              {packet.at, read_u16(packet.bytes, 2), read_u32(packet.bytes, 4)});
        }
      }
    };
    talk(20);
    engine.bridge(legs[0], legs[1]);
    CHECK(engine.thread_of(legs[0]) == engine.thread_of(legs[1]));
    talk(100);
    engine.unbridge(legs[0], legs[1]);
    talk(20);
    for (const auto& of_one : heard) check_unbroken(of_one);
    for (const LegHandle leg : legs) {
      const LegStatistics statistics = *engine.statistics(leg);
      CHECK(statistics.packets_received == said);
      CHECK(statistics.packets_lost == 0);
    }
    CHECK(engine.status(0).unknown_handles + engine.status(1).unknown_handles == 0);
  }

  TEST_CASE("places a room on its first member's thread; leaving legs keep their names") {
    MediaEngine engine(MediaEngine::Drive::manual, kLoopback, [] {}, {.threads = 3, .little = 0});
    std::vector<LegHandle> legs;
    for (uint16_t i = 0; i < 6; ++i)
      legs.push_back(engine.open_leg(static_cast<uint16_t>(4000 + 2 * i), {}).handle);
    std::set<size_t> before;
    for (const LegHandle leg : legs) before.insert(engine.thread_of(leg));
    CHECK(before.size() == 3);
    const size_t room_thread = engine.thread_of(legs[2]);
    engine.open_room(kRoom);
    for (uint32_t i : {2U, 0U, 1U, 3U, 4U, 5U}) {
      engine.join(kRoom, legs[i], std::make_unique<RoomMember>(MemberHandle(i + 1), MemberFlags{}));
      CHECK(engine.thread_of(legs[i]) == room_thread);
    }
    CHECK(engine.leg_count(room_thread) == 6);
    // The first handle stays the leg's name in commands and events.
    for (const LegHandle leg : legs) {
      LegHandle found;
      engine.at_leg(leg, [&](MediaLoop& loop, LegHandle at) { found = loop.core().peek(at)->name(); });
      CHECK(found == leg);
      CHECK(engine.close_leg(leg));
    }
    engine.close_room(kRoom);
    size_t missed = 0;
    for (size_t i = 0; i < 3; ++i) missed += engine.status(i).unknown_handles;
    CHECK(missed == 0);
    CHECK(engine.leg_count(room_thread) == 0);
  }

  TEST_CASE("opens a B leg on the thread of its A leg") {
    MediaEngine engine(MediaEngine::Drive::manual, kLoopback, [] {}, {.threads = 4, .little = 0});
    for (uint16_t i = 0; i < 8; ++i) {
      const auto port = static_cast<uint16_t>(4000 + 4 * i);
      const LegHandle a = engine.open_leg(port, {}).handle;
      const LegHandle b = engine.open_leg(static_cast<uint16_t>(port + 2), {}, a).handle;
      CHECK(engine.thread_of(a) == engine.thread_of(b));
    }
    for (size_t i = 0; i < 4; ++i) CHECK(engine.leg_count(i) == 4);
  }

  TEST_CASE("moves a leg between rooms over sockets without packet loss in either direction") {
    MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [] {}, {.threads = 2, .little = 0});
    uint16_t port = 41'000;
    const auto bind = [&](Address& at) {
      while (true) {
        at = kLoopback;
        at.port = port = static_cast<uint16_t>(port + 2);
        if (auto bound = UdpSocket::bind(at); bound.error == 0) return std::move(bound.socket);
      }
    };
    const auto open = [&](uint16_t& at) {
      while (true) {
        at = port = static_cast<uint16_t>(port + 2);
        if (const auto opened = engine.open_leg(port, {}); opened.handle != LegHandle()) return opened.handle;
      }
    };
    Address peer_at;
    const UdpSocket peer = bind(peer_at);
    Address leg_at = kLoopback;
    const LegHandle leg = open(leg_at.port);
    // Two rooms, each on its first member's thread.
    std::array<RoomHandle, 2> rooms{kRoom, RoomHandle(kRoomBit | 2)};
    for (uint32_t i = 0; i < rooms.size(); ++i) {
      uint16_t own = 0;
      engine.open_room(rooms[i]);
      engine.join(rooms[i], open(own), std::make_unique<RoomMember>(MemberHandle(i + 1), MemberFlags{}));
    }
    configure(engine, leg, remote_at(peer_at));
    std::vector<Heard> heard;
    UdpSocket::Buffer buffer;
    const auto hear = [&] {
      while (buffer.receive(peer)) {
        const Datagram datagram = buffer.datagram();
        heard.push_back({datagram.arrived_wall, read_u16(datagram.bytes, 2), read_u32(datagram.bytes, 4)});
      }
    };
    constexpr uint32_t kPackets = 150;
    std::set<size_t> been;
    for (uint32_t i = 0; i < kPackets; ++i) {
      peer.send(leg_at, packet_of(i, 7));
      if (i % 10 == 5) {
        engine.join(rooms[(i / 10) % 2], leg, std::make_unique<RoomMember>(MemberHandle(i), MemberFlags{}));
        been.insert(engine.thread_of(leg));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      hear();
    }
    for (int i = 0; i < 200 && engine.statistics(leg)->packets_received < kPackets; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK(engine.statistics(leg)->packets_received == kPackets);
    CHECK(engine.statistics(leg)->packets_lost == 0);
    CHECK(been.size() == 2);
    check_unbroken(heard);
    engine.stop();
  }
}

}  // namespace carillon
