#include "engine/datagram_ring.hpp"

#include <doctest/doctest.h>
#include <poll.h>

#include <vector>

#include "engine/udp_socket.hpp"

namespace carillon {

namespace {

struct Port {
  Port() {
    static uint16_t port = 37'000;
    do {
      address = *parse_address("127.0.0.1", port++);
      socket = UdpSocket::bind(address).socket;
    } while (!socket.open());
  }
  [[nodiscard]] bool waits(int ms = 10'000) const {
    pollfd any{socket.descriptor(), POLLIN, 0};
    return ::poll(&any, 1, ms) == 1;
  }

  UdpSocket socket;
  Address address;
};

/// Two sockets connected to each other.
struct Pair {
  Pair() {
    REQUIRE(a.socket.connect(b.address));
    REQUIRE(b.socket.connect(a.address));
  }
  Port a;
  Port b;
};

/// Returns null if the kernel does not support it; the test is then empty.
std::unique_ptr<DatagramRing> opened() {
  auto ring = DatagramRing::open();
  if (!ring) MESSAGE("io_uring is not available here");
  return ring;
}

std::vector<uint8_t> packet_of(size_t size, uint8_t value) { return std::vector<uint8_t>(size, value); }

}  // namespace

TEST_SUITE("datagram ring") {
  TEST_CASE("sends in order, and reports which sockets received data, when and from where") {
    const auto ring = opened();
    if (!ring) return;
    Pair pair;
    Port silent;
    const auto buffers = std::make_unique<std::array<UdpSocket::Buffer, 2>>();
    for (uint8_t i = 1; i <= 3; ++i) ring->send(pair.a.socket, packet_of(20u + i, i));
    CHECK_FALSE(pair.b.waits(0));
    CHECK(ring->exchange().empty());
    for (uint8_t i = 1; i <= 3; ++i) {
      REQUIRE(pair.b.waits());
      ring->receive(silent.socket, (*buffers)[0]);
      ring->receive(pair.b.socket, (*buffers)[1]);
      const std::span<const bool> found = ring->exchange();
      REQUIRE(found.size() == 2);
      CHECK_FALSE(found[0]);
      REQUIRE(found[1]);
      const Datagram datagram = (*buffers)[1].datagram();
      CHECK(datagram.bytes.size() == 20u + i);
      CHECK(datagram.bytes[0] == i);
      CHECK(datagram.source == pair.a.address);
      timespec now{};
      clock_gettime(CLOCK_REALTIME, &now);
      CHECK(abs(now.tv_sec * kSecond - datagram.arrived_wall) < 20 * kSecond);
    }
    CHECK_FALSE(pair.b.waits(0));
  }

  TEST_CASE("sends each packet once even if packets or bytes exceed the ring's capacity") {
    const auto ring = opened();
    if (!ring) return;
    std::vector<Pair> pairs(10);
    for (uint8_t i = 0; i < 40; ++i) {
      for (const Pair& pair : pairs) ring->send(pair.a.socket, packet_of(1200, i));
    }
    ring->exchange();
    UdpSocket::Buffer buffer;
    for (const Pair& pair : pairs) {
      for (uint8_t i = 0; i < 40; ++i) {
        REQUIRE(pair.b.waits());
        REQUIRE(buffer.receive(pair.b.socket));
        CHECK(buffer.datagram().bytes.size() == 1200);
        CHECK(buffer.datagram().bytes[0] == i);
      }
      CHECK_FALSE(buffer.receive(pair.b.socket));
    }
  }

  TEST_CASE("receives in the same exchange in which queued packets are sent") {
    const auto ring = opened();
    if (!ring) return;
    Pair pair;
    std::vector<Pair> others(4);
    pair.b.socket.send(packet_of(5, 9));
    REQUIRE(pair.a.waits());
    UdpSocket::Buffer buffer;
    ring->receive(pair.a.socket, buffer);
    for (uint8_t i = 0; i < 100; ++i) {
      for (const Pair& other : others) ring->send(other.a.socket, packet_of(172, i));
    }
    const std::span<const bool> found = ring->exchange();
    REQUIRE(found.size() == 1);
    CHECK(found[0]);
    CHECK(buffer.datagram().bytes.size() == 5);
  }

  TEST_CASE("sends a packet despite a pending error of an earlier one") {
    const auto ring = opened();
    if (!ring) return;
    Port gone;
    const Address there = gone.address;
    Port own;
    REQUIRE(own.socket.connect(there));
    gone.socket = UdpSocket();
    ring->send(own.socket, packet_of(8, 1));
    ring->exchange();
    // The error is pending at the socket.
    pollfd refused{own.socket.descriptor(), 0, 0};
    REQUIRE(::poll(&refused, 1, 10'000) == 1);
    UdpSocket again = UdpSocket::bind(there).socket;
    REQUIRE(again.open());
    ring->send(own.socket, packet_of(8, 2));
    ring->exchange();
    pollfd any{again.descriptor(), POLLIN, 0};
    REQUIRE(::poll(&any, 1, 10'000) == 1);
    UdpSocket::Buffer buffer;
    REQUIRE(buffer.receive(again));
    CHECK(buffer.datagram().bytes[0] == 2);
  }

  TEST_CASE("ignores a truncated datagram, and finds none at a closed socket") {
    const auto ring = opened();
    if (!ring) return;
    Pair pair;
    pair.a.socket.send(packet_of(UdpSocket::Buffer::kMaxBytes + 1, 7));
    REQUIRE(pair.b.waits());
    const UdpSocket closed;
    const auto buffers = std::make_unique<std::array<UdpSocket::Buffer, 2>>();
    ring->receive(pair.b.socket, (*buffers)[0]);
    ring->receive(closed, (*buffers)[1]);
    const std::span<const bool> found = ring->exchange();
    REQUIRE(found.size() == 2);
    CHECK(found[0]);
    CHECK((*buffers)[0].datagram().bytes.empty());
    CHECK_FALSE(found[1]);
    CHECK(ring->usable());
  }
}

}  // namespace carillon
