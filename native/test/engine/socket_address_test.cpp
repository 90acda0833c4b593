#include "engine/socket_address.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <net/if.h>

#include <array>
#include <cstring>
#include <optional>
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

TEST_CASE("socket address: a link-local address has its interface") {
  const uint32_t zone = if_nametoindex("lo");
  REQUIRE(zone != 0);
  for (const std::string& text : {std::string("fe80::7%lo"), "fe80::7%" + std::to_string(zone)}) {
    CAPTURE(text);
    const std::optional<Address> near = parse_address(text, 4000);
    REQUIRE(near.has_value());
    CHECK(std::string(ip_text(*near).data()) == "fe80::7%lo");
    CHECK(*near != *parse_address("fe80::7", 4000));
    sockaddr_storage name{};
    to_sockaddr(*near, name, true);
    sockaddr_in6 in{};
    std::memcpy(&in, &name, sizeof(in));
    CHECK(in.sin6_scope_id == zone);
    in6_addr plain{};
    REQUIRE(inet_pton(AF_INET6, "fe80::7", &plain) == 1);
    CHECK(std::memcmp(&in.sin6_addr, &plain, sizeof(plain)) == 0);
    CHECK(from_sockaddr(name) == *near);
  }
  CHECK(std::string(ip_text(*parse_address("fe80::7", 4000)).data()) == "fe80::7");
  // No address claims an interface in the bits that hold it.
  CHECK(*parse_address("fe80:0:0:1::7", 4000) == *parse_address("fe80::7", 4000));
  for (const std::string text : {"fe80::7%", "fe80::7%nothing", "2001:db8::7%lo", "192.0.2.7%lo", "::%lo"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_address(text, 4000).has_value());
  }
}

TEST_CASE("a socket bound to :: sends and receives over IPv4 and IPv6") {
  UdpSocket::Bound everywhere = UdpSocket::bind(*parse_address("::", 0));
  if (everywhere.error != 0) return;  // a machine without IPv6
  const uint16_t port = port_of(everywhere.socket);
  // A chosen port, as in the engine: the kernel releases other ports when a connection is dissolved.
  everywhere = {};
  everywhere = UdpSocket::bind(*parse_address("::", port));
  REQUIRE(everywhere.error == 0);
  CHECK_FALSE(everywhere.socket.reopens());
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
  }
}

TEST_CASE("a connected socket keeps the own address to which the peer sends") {
  UdpSocket::Bound bound = UdpSocket::bind(*parse_address("0.0.0.0", 0));
  REQUIRE(bound.error == 0);
  REQUIRE(bound.socket.reopens());
  const uint16_t port = port_of(bound.socket);
  bound = {};
  bound = UdpSocket::bind(*parse_address("0.0.0.0", port));
  REQUIRE(bound.error == 0);
  const UdpSocket::Bound peer = UdpSocket::bind(*parse_address("127.0.0.1", 0));
  const Address own = *parse_address("127.0.0.1", port_of(peer.socket));
  UdpSocket::Buffer buffer;
  // The route to the peer has the first address.
  for (const std::string host : {"127.0.0.5", "127.0.0.1"}) {
    CAPTURE(host);
    const Address to = *parse_address(host, port);
    peer.socket.send(to, kPacket);
    REQUIRE(receives(bound.socket, buffer));
    const Address destination = buffer.datagram().destination;
    CHECK(same_host(destination, to));
    CHECK(bound.socket.connect(own, destination) == (host == "127.0.0.1"));
    peer.socket.send(to, kPacket);
    CHECK(receives(bound.socket, buffer));
    bound.socket.connect(std::nullopt);
  }
  peer.socket.send(*parse_address("127.0.0.5", port), kPacket);
  REQUIRE(receives(bound.socket, buffer));
  CHECK(same_host(buffer.datagram().destination, *parse_address("127.0.0.5", 0)));
}
