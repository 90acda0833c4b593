#include "core/dtls/record_filter.hpp"

#include <doctest/doctest.h>

#include <random>

namespace carillon {

namespace {

using Octets = std::vector<uint8_t>;

void put(Octets& out, size_t value, size_t octets) {
  for (size_t i = octets; i-- > 0;) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

Octets record(uint8_t type, uint16_t epoch, const Octets& body) {
  Octets out{type, 0xfe, 0xfd};
  put(out, epoch, 2);
  put(out, 7, 6);
  put(out, body.size(), 2);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

Octets fragment(uint8_t type, uint16_t message, const Octets& body, size_t offset, size_t size) {
  Octets out{type};
  put(out, body.size(), 3);
  put(out, message, 2);
  put(out, offset, 3);
  put(out, size, 3);
  const auto from = body.begin() + static_cast<std::ptrdiff_t>(offset);
  out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(size));
  return out;
}

Octets handshake(uint8_t type, uint16_t message, const Octets& body) {
  return record(22, 0, fragment(type, message, body, 0, body.size()));
}

Octets client_hello() {
  Octets body(34, 0x11);
  body[0] = 0xfe;
  body[1] = 0xfd;
  for (const int octet : {0, 0, 0, 2, 0xc0, 0x2b, 1, 0}) body.push_back(static_cast<uint8_t>(octet));
  return body;
}

Octets server_hello() {
  Octets body(34, 0x22);
  body[0] = 0xfe;
  body[1] = 0xfd;
  for (const int octet : {0, 0xc0, 0x2b, 0}) body.push_back(static_cast<uint8_t>(octet));
  return body;
}

const Octets kCertificate{0, 0, 5, 0, 0, 2, 0x30, 0x00};
const Octets kEncrypted(40, 0x5a);

bool passes(RecordFilter& filter, const Octets& datagram) { return filter.accepted(datagram) == datagram; }

}  // namespace

TEST_SUITE("DTLS record filter (RFC 6347 §4.1.2.7)") {
  TEST_CASE("accepts a client's messages at their positions and rejects a server's") {
    RecordFilter filter(false);
    CHECK(passes(filter, handshake(1, 0, client_hello())));
    CHECK(passes(filter, handshake(11, 1, kCertificate)));
    CHECK(passes(filter, handshake(16, 2, {1, 0x44})));
    CHECK(passes(filter, handshake(15, 3, {4, 3, 0, 1, 0x55})));
    CHECK(passes(filter, record(20, 0, {1})));
    CHECK(passes(filter, record(22, 1, kEncrypted)));
    CHECK(filter.accepted(handshake(2, 0, server_hello())).empty());
    CHECK(filter.accepted(handshake(1, 1, client_hello())).empty());
    CHECK(filter.accepted(handshake(16, 1, {1, 0x44})).empty());
    CHECK(filter.accepted(handshake(20, 4, Octets(12, 1))).empty());
  }

  TEST_CASE("accepts a server's messages and a few cookie requests") {
    RecordFilter filter(true);
    const Octets verify = handshake(3, 0, {0xfe, 0xff, 2, 1, 2});
    for (int i = 0; i < 3; ++i) CHECK(passes(filter, verify));
    for (int i = 0; i < 100; ++i) CHECK(filter.accepted(verify).empty());
    CHECK(passes(filter, handshake(2, 1, server_hello())));
    CHECK(passes(filter, handshake(11, 2, kCertificate)));
    CHECK(passes(filter, handshake(12, 3, {3, 0, 29, 1, 0x66, 4, 3, 0, 1, 0x77})));
    CHECK(passes(filter, handshake(13, 4, {1, 64, 0, 2, 4, 3, 0, 0})));
    CHECK(passes(filter, handshake(14, 5, {})));
    CHECK(filter.accepted(handshake(1, 0, client_hello())).empty());
  }

  TEST_CASE("rejects unauthenticated alerts and data, and accepts encrypted ones") {
    RecordFilter filter(false);
    const auto check = [&] {
      CHECK(filter.accepted(record(21, 0, {2, 40})).empty());
      CHECK(filter.accepted(record(21, 0, {1, 0})).empty());
      CHECK(filter.accepted(record(23, 0, kEncrypted)).empty());
      CHECK(passes(filter, record(21, 1, kEncrypted)));
      CHECK(passes(filter, record(23, 1, kEncrypted)));
    };
    check();
    filter.secured();
    check();
    CHECK(filter.accepted(handshake(1, 0, client_hello())).empty());
    CHECK(filter.accepted(record(20, 0, {1})).empty());
    CHECK(filter.accepted(record(22, 2, kEncrypted)).empty());
  }

  TEST_CASE("accepts a valid record next to an invalid one, and drops the rest of a truncated datagram") {
    RecordFilter filter(false);
    const Octets good = handshake(1, 0, client_hello());
    Octets datagram = record(21, 0, {2, 40});
    datagram.insert(datagram.end(), good.begin(), good.end());
    CHECK(filter.accepted(datagram) == good);
    for (size_t size = 0; size < good.size(); ++size) {
      CHECK(filter.accepted(Bytes(good).first(size)).empty());
    }
  }

  TEST_CASE("requires all fragments of a message to have the same type and length") {
    RecordFilter filter(false);
    Octets hello = client_hello();
    put(hello, 0, 2);
    CHECK(passes(filter, record(22, 0, fragment(1, 0, hello, 0, 20))));
    CHECK(filter.accepted(record(22, 0, fragment(1, 0, Octets(900, 1), 20, 30))).empty());
    CHECK(passes(filter, record(22, 0, fragment(1, 0, hello, 20, hello.size() - 20))));
    CHECK(filter.accepted(record(22, 0, fragment(11, 1, Octets(20'000, 1), 0, 100))).empty());
    Octets beyond = fragment(11, 1, kCertificate, 0, kCertificate.size());
    beyond[8] = 200;  // fragment offset
    CHECK(filter.accepted(record(22, 0, beyond)).empty());
  }

  TEST_CASE("rejects random content in valid frames of every type") {
    std::mt19937 random(3);
    for (const bool client : {false, true}) {
      int passed = 0;
      for (int run = 0; run < 20'000; ++run) {
        RecordFilter filter(client);
        Octets body(188);
        for (uint8_t& octet : body) octet = static_cast<uint8_t>(random());
        const auto type = static_cast<uint8_t>(random() % 26);
        passed += filter.accepted(handshake(type, static_cast<uint16_t>(random() % 4), body)).empty() ? 0 : 1;
      }
      CHECK(passed <= 2);
    }
  }
}

}  // namespace carillon
