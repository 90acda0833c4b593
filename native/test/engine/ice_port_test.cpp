#include "engine/ice_port.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <string_view>

#include "engine/socket_address.hpp"

namespace carillon {

namespace {

constexpr LegHandle kLeg(7);
constexpr std::string_view kName = "ufrag:peer";

uint32_t crc32(Bytes bytes) {
  uint32_t value = 0xffffffff;
  for (const uint8_t byte : bytes) {
    value ^= byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0);
  }
  return ~value;
}

/// Returns a Binding request with a username and a fingerprint (RFC 8489), in an RFC 4571 frame.
std::vector<uint8_t> framed_check() {
  std::vector<uint8_t> check(20);
  const auto attribute = [&](uint16_t type, size_t bytes) {
    const size_t at = check.size();
    check.resize(at + 4 + (bytes + 3) / 4 * 4);
    write_u16(check, at, type);
    write_u16(check, at + 2, static_cast<uint16_t>(bytes));
    write_u16(check, 2, static_cast<uint16_t>(check.size() - 20));
    return at + 4;
  };
  write_u16(check, 0, 1);
  write_u32(check, 4, 0x2112A442);
  const size_t name = attribute(0x0006, kName.size());
  std::ranges::copy(kName, check.begin() + static_cast<std::ptrdiff_t>(name));
  const size_t fingerprint = attribute(0x8028, 4);
  write_u32(check, fingerprint, crc32(Bytes(check).first(fingerprint - 4)) ^ 0x5354554e);
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

  Rig() {
    IcePort::Opened opened = IcePort::open(loopback());
    REQUIRE(opened.error == 0);
    port = std::move(opened.port);
    port->report_to([this](LegHandle, const Datagram&, const std::shared_ptr<StreamPath>&) { ++delivered; },
                    [](LegHandle, const std::shared_ptr<UdpSocket>&, const Address&) {});
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
}

}  // namespace carillon
