#include "engine/socket_address.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "engine/udp_socket.hpp"

using namespace carillon;

namespace {

uint16_t port_of(const UdpSocket& socket) {
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  REQUIRE(::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&name), &length) == 0);
  return from_sockaddr(name).port;
}

bool receives(const UdpSocket& receiver, UdpSocket::Buffer& buffer) {
  // Loopback delivers within the send call.
  return buffer.receive(receiver);
}

const std::array<uint8_t, 2> kPacket{1, 2};

}  // namespace

TEST_CASE("socket address: an IPv4-mapped address is IPv4") {
  sockaddr_storage name{};
  const Address four = *parse_address("192.0.2.7", 4000);
  const socklen_t length = to_sockaddr(four, name, true);
  CHECK(length == sizeof(sockaddr_in6));
  CHECK(name.ss_family == AF_INET6);
  CHECK(from_sockaddr(name) == four);
  const Address six = *parse_address("2001:db8::7", 4000);
  to_sockaddr(six, name, true);
  CHECK(from_sockaddr(name) == six);
}

TEST_CASE("a socket bound to :: sends and receives over IPv4 and IPv6") {
  UdpSocket::Bound everywhere = UdpSocket::bind(*parse_address("::", 0));
  if (everywhere.error != 0) return;  // a machine without IPv6
  const uint16_t port = port_of(everywhere.socket);
  // A chosen port, as in the engine: the kernel releases other ports when a connection is dissolved.
  everywhere = {};
  everywhere = UdpSocket::bind(*parse_address("::", port));
  REQUIRE(everywhere.error == 0);
  for (const std::string host : {"127.0.0.1", "::1"}) {
    CAPTURE(host);
    UdpSocket::Bound peer = UdpSocket::bind(*parse_address(host, 0));
    if (peer.error != 0) continue;
    const Address own = *parse_address(host, port_of(peer.socket));
    UdpSocket::Buffer buffer;
    peer.socket.send(*parse_address(host, port), kPacket);
    REQUIRE(receives(everywhere.socket, buffer));
    CHECK(buffer.datagram().source == own);
    everywhere.socket.send(own, kPacket);
    REQUIRE(receives(peer.socket, buffer));
    CHECK(buffer.datagram().source == *parse_address(host, port));
    REQUIRE(everywhere.socket.connect(own));
    everywhere.socket.send(kPacket);
    CHECK(receives(peer.socket, buffer));
    REQUIRE(everywhere.socket.connect(std::nullopt));
  }
}
