#include "engine/datagram_batch.hpp"

#include <doctest/doctest.h>

#include <ctime>
#include <string>

#include "engine/socket_address.hpp"

using namespace carillon;

namespace {

struct Pair {
  UdpSocket receiver;
  UdpSocket sender;
  Address to;
};

Pair loopback_pair() {
  Pair pair{UdpSocket::bind(*parse_address("127.0.0.1", 0)).socket,
            UdpSocket::bind(*parse_address("127.0.0.1", 0)).socket,
            {}};
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  REQUIRE(::getsockname(pair.receiver.descriptor(), reinterpret_cast<sockaddr*>(&name), &length) == 0);
  pair.to = from_sockaddr(name);
  return pair;
}

std::string text_of(const Datagram& datagram) { return {datagram.bytes.begin(), datagram.bytes.end()}; }

void send(const Pair& pair, const std::string& text) {
  pair.sender.send(pair.to, Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

}  // namespace

TEST_CASE("datagram batch: reads waiting datagrams in order, with sender and arrival time") {
  const Pair pair = loopback_pair();
  DatagramBatch batch;
  CHECK(batch.receive(pair.receiver) == 0);
  for (int n = 0; n < 70; ++n) send(pair, std::to_string(n));
  REQUIRE(batch.receive(pair.receiver) == DatagramBatch::kMost);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  for (size_t n = 0; n < DatagramBatch::kMost; ++n) {
    const Datagram datagram = batch.datagram(n);
    CHECK(text_of(datagram) == std::to_string(n));
    CHECK(datagram.source.family == Address::Family::ipv4);
    const Nanos age = now.tv_sec * kSecond + Nanos(now.tv_nsec) - datagram.arrived_wall;
    CHECK(age >= Nanos());
    CHECK(age < 10 * kSecond);
  }
  CHECK(batch.receive(pair.receiver) == 6);
  CHECK(text_of(batch.datagram(5)) == "69");
}

TEST_CASE("datagram batch: reports the datagrams that the kernel dropped") {
  const Pair pair = loopback_pair();
  DatagramBatch::count_losses(pair.receiver);
  DatagramBatch batch;
  const std::string big(1500, 'x');
  for (int n = 0; n < 1000; ++n) send(pair, big);
  while (batch.receive(pair.receiver) > 0) {
  }
  send(pair, "more");
  REQUIRE(batch.receive(pair.receiver) == 1);
  CHECK(text_of(batch.datagram(0)) == "more");
  CHECK(batch.lost() > 0);
  CHECK(batch.lost() < 1000);
}
