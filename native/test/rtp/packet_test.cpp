#include "core/rtp/packet.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace carillon {

namespace {
std::vector<uint8_t> packet(std::initializer_list<uint8_t> tail, uint8_t first = 0x80,
                            uint8_t second = 0x80) {
  std::vector<uint8_t> bytes{first, second, 0x12, 0x34, 0, 0, 0, 160, 0xde, 0xad, 0xbe, 0xef};
  // One by one: GCC 12 reports a false overflow in insert().
  for (const uint8_t byte : tail) bytes.push_back(byte);
  return bytes;
}
}  // namespace

TEST_SUITE("RTP packet (RFC 3550 §5.1)") {
  TEST_CASE("parses a header that it has written") {
    std::vector<uint8_t> bytes(kRtpHeaderBytes + 3, 7);
    write_rtp_header({true, 101, 0xfffe, RtpTimestamp(0xdeadbeef), 0x01020304}, bytes);
    const auto read = parse_rtp(bytes);
    REQUIRE(read);
    CHECK(read->marker);
    CHECK(read->payload_type == 101);
    CHECK(read->sequence == 0xfffe);
    CHECK(read->timestamp == RtpTimestamp(0xdeadbeef));
    CHECK(read->ssrc == 0x01020304);
    CHECK(read->payload.size() == 3);
  }

  TEST_CASE("removes CSRC list, header extension and padding") {
    const auto csrc = packet({1, 2, 3, 4, 9, 9}, 0x81);
    CHECK(parse_rtp(csrc)->payload.size() == 2);
    const auto extended = packet({0xbe, 0xde, 0, 1, 5, 5, 5, 5, 9}, 0x90);
    CHECK(parse_rtp(extended)->payload.size() == 1);
    const auto padded = packet({9, 9, 0, 0, 3}, 0xa0);
    CHECK(parse_rtp(padded)->payload.size() == 2);
  }

  TEST_CASE("rejects other data: wrong version, truncated lists, invalid padding, RTCP types (RFC 5761 §4)") {
    CHECK_FALSE(parse_rtp(packet({}, 0x40)));
    CHECK_FALSE(parse_rtp(packet({1, 2, 3}, 0x81)));
    CHECK_FALSE(parse_rtp(packet({0xbe, 0xde, 0}, 0x90)));
    CHECK_FALSE(parse_rtp(packet({0xbe, 0xde, 0xff, 0xff}, 0x90)));
    CHECK_FALSE(parse_rtp(packet({9, 0}, 0xa0)));
    CHECK_FALSE(parse_rtp(packet({9, 200}, 0xa0)));
    CHECK_FALSE(parse_rtp(packet({1}, 0x80, 200)));
    CHECK_FALSE(parse_rtp(std::vector<uint8_t>(11, 0x80)));
    CHECK_FALSE(parse_rtp({}));
  }

  TEST_CASE("returns a view within the datagram or nothing for any bytes") {
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
      std::vector<uint8_t> bytes(random() % 80);
      for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
      if (!bytes.empty() && i % 2 == 0) bytes[0] = static_cast<uint8_t>(0x80 | (bytes[0] & 0x3f));
      const auto read = parse_rtp(bytes);
      if (!read || read->payload.empty()) continue;
      CHECK(read->payload.data() >= bytes.data());
      CHECK(read->payload.data() + read->payload.size() <= bytes.data() + bytes.size());
    }
  }
}

}  // namespace carillon
