#include "engine/ice_port.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <string_view>
#include <thread>

#include "engine/socket_address.hpp"
#include "test/support/stun_check.hpp"

namespace carillon {

namespace {

constexpr LegHandle kLeg(7);
constexpr std::string_view kName = "ufrag:peer";

/// Returns a check in an RFC 4571 frame.
std::vector<uint8_t> framed_check() {
  const std::vector<uint8_t> check = stun_check(kName, false);
  std::vector<uint8_t> frame(2 + check.size());
  write_u16(frame, 0, static_cast<uint16_t>(check.size()));
  std::ranges::copy(check, frame.begin() + 2);
  return frame;
}

Address loopback() {
  Address local;
  local.family = Address::Family::ipv4;
  local.ip = {127, 0, 0, 1};
  return local;
}

/// A port as its thread serves it, in virtual time.
struct Rig {
  std::unique_ptr<IcePort> port;
  Nanos now = kSecond;
  int delivered = 0;
  LegHandle receiver;
  std::function<void()> on_delivery = [] {};

  Rig() {
    IcePort::Opened opened = IcePort::open(loopback());
    REQUIRE(opened.error == 0);
    port = std::move(opened.port);
    const auto deliver = [this](LegHandle leg, const Datagram&, const std::shared_ptr<StreamPath>&) {
      ++delivered;
      receiver = leg;
      on_delivery();
    };
    // The legs' own sockets are closed.
    port->report_to(deliver, [](LegHandle, const std::shared_ptr<UdpSocket>&, const Address&) {});
    port->expect(kLeg, "ufrag");
  }

  [[nodiscard]] FileDescriptor connect() const {
    Address to = loopback();
    to.port = port->port();
    sockaddr_storage name{};
    const socklen_t length = to_sockaddr(to, name);
    FileDescriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(made.get(), reinterpret_cast<const sockaddr*>(&name), length) == 0);
    return made;
  }
  /// Returns a UDP socket of a peer, connected to the port.
  [[nodiscard]] UdpSocket peer() const {
    UdpSocket::Bound made = UdpSocket::bind(loopback());
    Address to = loopback();
    to.port = port->port();
    REQUIRE(made.error == 0);
    REQUIRE(made.socket.connect(to));
    return std::move(made.socket);
  }
  /// Polls without waiting. Returns the number of ready descriptors.
  int poll() {
    std::vector<pollfd> descriptors;
    port->watch(descriptors);
    const int ready = ::poll(descriptors.data(), descriptors.size(), 0);
    port->polled(descriptors);
    return ready;
  }
  /// Serves the port until no descriptor is ready. Returns false if one is always ready.
  bool settle() {
    for (int turn = 0; turn < 100; ++turn) {
      if (poll() == 0) return true;
      port->serve(now);
    }
    return false;
  }
};

/// Returns true if the other side has closed the connection.
bool is_closed(const FileDescriptor& socket) {
  uint8_t byte = 0;
  return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT) == 0;
}

Address address_of(const UdpSocket& socket) {
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  REQUIRE(::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&name), &length) == 0);
  return from_sockaddr(name);
}

/// Sends a datagram of the key exchange.
void send_key_message(const UdpSocket& from) {
  constexpr std::array<uint8_t, 2> kKeyMessage{22, 0xfe};
  REQUIRE(::send(from.descriptor(), kKeyMessage.data(), kKeyMessage.size(), 0) == 2);
}

void send(const FileDescriptor& socket, Bytes bytes) {
  REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

}  // namespace

TEST_SUITE("ICE port") {
  TEST_CASE("connections that must wait do not keep the thread busy") {
    Rig rig;
    std::vector<FileDescriptor> peers;
    for (int i = 0; i < 210; ++i) {
      peers.push_back(rig.connect());
      if (i % 50 == 0) CHECK(rig.settle());
    }
    CHECK(rig.settle());
    // Connections without a name end after ten seconds. Those that waited are then accepted.
    REQUIRE(rig.port->due());
    rig.now = *rig.port->due();
    rig.port->serve(rig.now);
    CHECK(rig.settle());
    CHECK(is_closed(peers.front()));
    CHECK_FALSE(is_closed(peers.back()));
    send(peers.back(), framed_check());
    CHECK(rig.settle());
    CHECK(rig.delivered == 1);
  }

  TEST_CASE("a lack of descriptors does not keep the thread busy") {
    Rig rig;
    const FileDescriptor peer = rig.connect();
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{0, before.rlim_max};
    CHECK(rig.poll() == 1);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    rig.port->serve(rig.now);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(rig.poll() == 0);
    REQUIRE(rig.port->due());
    rig.now = *rig.port->due();
    rig.port->serve(rig.now);
    send(peer, framed_check());
    CHECK(rig.settle());
    CHECK(rig.delivered == 1);
  }

  TEST_CASE("one peer cannot use all connections") {
    Rig rig;
    std::vector<FileDescriptor> peers;
    for (int i = 0; i < 9; ++i) {
      peers.push_back(rig.connect());
      send(peers.back(), framed_check());
      CHECK(rig.settle());
    }
    CHECK(rig.delivered == 8);
    CHECK_FALSE(is_closed(peers[7]));
    CHECK(is_closed(peers[8]));
    // The connections of the leg end with it.
    rig.port->forget(kLeg);
    CHECK(is_closed(peers[0]));
  }

  TEST_CASE("reads only the connections with data") {
    Rig rig;
    const FileDescriptor silent = rig.connect();
    const FileDescriptor speaking = rig.connect();
    CHECK(rig.settle());
    send(speaking, framed_check());
    CHECK(rig.poll() == 1);
    send(silent, framed_check());
    rig.port->serve(rig.now);
    CHECK(rig.delivered == 1);
    CHECK(rig.settle());
    CHECK(rig.delivered == 2);
  }

  TEST_CASE("a peer that floods its new socket does not keep the thread busy") {
    Rig rig;
    const UdpSocket peer = rig.peer();
    int sent = 0;
    // Each delivery is followed by the next datagram, as if the peer were always faster than the thread.
    rig.on_delivery = [&] {
      if (++sent < 10'000) send_key_message(peer);
    };
    std::atomic<bool> done{false};
    std::thread flood([&] {
      while (!done) send_key_message(peer);
    });
    // Until a datagram arrives before the new socket is read for the first time.
    for (int i = 0; i < 100'000 && sent == 0; ++i) {
      rig.port->forget(kLeg);
      rig.port->expect(kLeg, "ufrag");
      rig.port->found(kLeg, address_of(peer));
    }
    done = true;
    flood.join();
    CHECK(sent > 0);
    CHECK(sent < 1000);
  }

  TEST_CASE("the end of a leg keeps an address that another leg has taken over") {
    Rig rig;
    constexpr LegHandle kOther(8);
    rig.port->expect(kOther, "other");
    const UdpSocket peer = rig.peer();
    rig.port->found(kLeg, address_of(peer));
    rig.port->found(kOther, address_of(peer));
    rig.port->forget(kLeg);
    send_key_message(peer);
    CHECK(rig.settle());
    CHECK(rig.delivered == 1);
    CHECK(rig.receiver == kOther);
  }

  TEST_CASE("a leg with many addresses keeps those that another leg has taken over") {
    Rig rig;
    constexpr LegHandle kOther(8);
    rig.port->expect(kOther, "other");
    const UdpSocket peer = rig.peer();
    rig.port->found(kLeg, address_of(peer));
    rig.port->found(kOther, address_of(peer));
    std::vector<UdpSocket> others;
    for (int i = 0; i < 4; ++i) {
      others.push_back(rig.peer());
      rig.port->found(kLeg, address_of(others.back()));
    }
    send_key_message(peer);
    CHECK(rig.settle());
    CHECK(rig.receiver == kOther);
  }
}

}  // namespace carillon
