#include "core/srtp/srtp_protection.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/rtp/packet.hpp"
#include "test/support/number_cipher.hpp"

namespace carillon {

namespace {

using test::numbers;

SrtpKeys keys(uint8_t name, SrtpSuite suite = SrtpSuite::aes128_sha80, size_t mki_bytes = 0) {
  SrtpKeys out;
  out.suite = suite;
  out.master[0] = name;
  out.mki_bytes = mki_bytes;
  return out;
}

SrtpProtection peer(uint8_t send, uint8_t receive) { return {keys(send), keys(receive), numbers}; }

using Packet = std::vector<uint8_t>;

Packet rtp(uint16_t sequence, uint32_t ssrc = 7) {
  Packet packet(kRtpHeaderBytes + 20, 0x11);
  write_rtp_header({false, 0, sequence, RtpTimestamp(0), ssrc}, packet);
  return packet;
}

Packet sealed(SrtpProtection& by, Packet packet) {
  const size_t size = packet.size();
  packet.resize(size + PacketProtection::kMaxTail);
  packet.resize(by.protect_rtp(packet, size));
  return packet;
}

bool opens(SrtpProtection& by, Packet packet) { return !by.unprotect_rtp(packet).empty(); }

Packet receiver_report(uint32_t ssrc = 7) {
  Packet packet(8);
  packet[0] = 0x80;
  packet[1] = 201;
  packet[3] = 1;
  write_u32(packet, 4, ssrc);
  return packet;
}

Packet sealed_report(SrtpProtection& by) {
  Packet packet = receiver_report();
  const size_t size = packet.size();
  packet.resize(size + PacketProtection::kMaxTail);
  packet.resize(by.protect_rtcp(packet, size));
  return packet;
}

}  // namespace

TEST_SUITE("SRTP packets") {
  TEST_CASE("protects each index once and does not send duplicates or indices older than the window") {
    SrtpProtection sender = peer(1, 2);
    SrtpProtection receiver = peer(2, 1);
    for (const uint16_t sequence : {uint16_t{1000}, uint16_t{1300}, uint16_t{1298}}) {
      Packet packet = sealed(sender, rtp(sequence));
      CHECK_FALSE(receiver.unprotect_rtp(packet).empty());
    }
    CHECK(sealed(sender, rtp(1300)).empty());
    CHECK(sealed(sender, rtp(1298)).empty());
    CHECK(sealed(sender, rtp(1049)).empty());
    CHECK_FALSE(sealed(sender, rtp(1301)).empty());
  }

  TEST_CASE("protects packets out of order, also across the sequence number wrap") {
    SrtpProtection sender(keys(1), keys(2), numbers);
    SrtpProtection receiver(keys(2), keys(1), numbers);
    for (const int sequence : {65'533, 65'535, 65'534, 1, 0, 2}) {
      CHECK(opens(receiver, sealed(sender, rtp(static_cast<uint16_t>(sequence)))));
    }
  }

  TEST_CASE("unprotects what was protected, with every suite and MKI length") {
    for (const SrtpSuite suite : {SrtpSuite::aes128_sha80, SrtpSuite::aes128_sha32, SrtpSuite::aes256_gcm}) {
      for (const size_t mki : {size_t{0}, size_t{4}}) {
        SrtpProtection sender(keys(1, suite), keys(2, suite), numbers);
        SrtpProtection receiver(keys(2, suite), keys(1, suite, mki), numbers);
        Packet packet = sealed(sender, rtp(10));
        CHECK(packet.size() == rtp(10).size() + sizes_of(suite).rtp_tag);
        CHECK(packet != rtp(10));
        const auto identifier = sizes_of(suite).aead
                                    ? packet.end()
                                    : packet.end() - static_cast<std::ptrdiff_t>(sizes_of(suite).rtp_tag);
        packet.insert(identifier, mki, uint8_t{0xee});
        const auto plain = receiver.unprotect_rtp(packet);
        CHECK(Packet(plain.begin(), plain.end()) == rtp(10));
      }
    }
  }

  TEST_CASE("increments the rollover counter at the sequence number wrap, also with losses there") {
    SrtpProtection sender = peer(1, 2);
    SrtpProtection receiver = peer(2, 1);
    for (uint32_t i = 0; i < 3 * 65'536; ++i) {
      const Packet packet = sealed(sender, rtp(static_cast<uint16_t>(65'000 + i)));
      // Lose over a hundred packets at regular intervals, including all sequence number wraps.
      if (i % 600 > 450) continue;
      REQUIRE(opens(receiver, packet));
    }
  }

  TEST_CASE("accepts late packets once within the window") {
    SrtpProtection sender = peer(1, 2);
    SrtpProtection receiver = peer(2, 1);
    std::vector<Packet> packets;
    for (uint16_t i = 0; i < 300; ++i)
      packets.push_back(sealed(sender, rtp(static_cast<uint16_t>(65'400 + i))));
    CHECK(opens(receiver, packets[0]));
    CHECK_FALSE(opens(receiver, packets[0]));
    CHECK(opens(receiver, packets[150]));  // the sequence numbers have wrapped
    CHECK(opens(receiver, packets[100]));
    CHECK_FALSE(opens(receiver, packets[100]));
    CHECK(opens(receiver, packets[149]));
    CHECK_FALSE(opens(receiver, packets[10]));  // older than the window
    CHECK(opens(receiver, packets[299]));
    CHECK_FALSE(opens(receiver, packets[150]));
  }

  TEST_CASE("rejects a packet that is not authentic without changing counters or the packet") {
    SrtpProtection sender = peer(1, 2);
    SrtpProtection receiver = peer(2, 1);
    CHECK(opens(receiver, sealed(sender, rtp(100))));
    for (uint16_t sequence = 200; sequence < 60'000; sequence = static_cast<uint16_t>(sequence + 1000)) {
      Packet forged = rtp(sequence);
      forged.resize(forged.size() + 10);
      const Packet before = forged;
      CHECK(receiver.unprotect_rtp(forged).empty());
      CHECK(forged == before);
    }
    CHECK(opens(receiver, sealed(sender, rtp(101))));
  }

  TEST_CASE("rejects packets that are too short, of another version or with an invalid header") {
    SrtpProtection receiver = peer(2, 1);
    for (size_t size = 0; size < 40; ++size) {
      Packet packet(size, 0xff);
      CHECK(receiver.unprotect_rtp(packet).empty());
      CHECK(receiver.unprotect_rtcp(packet).empty());
    }
    Packet extended = rtp(1);
    extended[0] |= 0x1f;
    extended.resize(80);
    CHECK(receiver.unprotect_rtp(extended).empty());
  }

  TEST_CASE("tracks the indices of each source, for a limited number of sources") {
    SrtpProtection receiver = peer(2, 1);
    std::vector<Packet> first;
    for (uint32_t ssrc = 1; ssrc <= 6; ++ssrc) {
      SrtpProtection sender = peer(1, 2);
      first.push_back(sealed(sender, rtp(static_cast<uint16_t>(1000 * ssrc), ssrc)));
      CHECK(opens(receiver, first.back()));
      CHECK_FALSE(opens(receiver, first.back()));
    }
    CHECK_FALSE(opens(receiver, first[3]));
  }

  TEST_CASE("continues counting in both directions if the keys stay the same") {
    SrtpProtection sender = peer(1, 2);
    SrtpProtection receiver = peer(2, 1);
    Packet old;
    for (uint32_t i = 0; i < 70'000; ++i) {
      old = sealed(sender, rtp(static_cast<uint16_t>(i)));
      REQUIRE(opens(receiver, old));
    }
    SrtpProtection sender_again = peer(1, 2);
    SrtpProtection receiver_again = peer(2, 1);
    sender_again.follow(sender);
    receiver_again.follow(receiver);
    CHECK_FALSE(opens(receiver_again, old));
    CHECK(opens(receiver_again, sealed(sender_again, rtp(static_cast<uint16_t>(70'000)))));
  }

  TEST_CASE("accepts the peer's old key until the first packet under a new one") {
    SrtpProtection before = peer(1, 2);
    SrtpProtection after = peer(3, 2);
    SrtpProtection receiver = peer(2, 1);
    CHECK(opens(receiver, sealed(before, rtp(10))));
    SrtpProtection changed = peer(2, 3);
    changed.follow(receiver);
    CHECK(opens(changed, sealed(before, rtp(11))));
    CHECK(opens(changed, sealed(after, rtp(12))));
    CHECK_FALSE(opens(changed, sealed(before, rtp(13))));
  }

  TEST_CASE("numbers and encrypts reports and rejects replays") {
    SrtpProtection sender = peer(1, 2);
    SrtpProtection receiver = peer(2, 1);
    Packet first = sealed_report(sender);
    CHECK(first.size() == receiver_report().size() + 14);
    Packet second = sealed_report(sender);
    CHECK(first != second);
    Packet replayed = first;
    const auto plain = receiver.unprotect_rtcp(first);
    CHECK(Packet(plain.begin(), plain.end()) == receiver_report());
    CHECK_FALSE(receiver.unprotect_rtcp(second).empty());
    CHECK(receiver.unprotect_rtcp(replayed).empty());
    // A report marked as unencrypted.
    Packet bare = sealed_report(sender);
    bare[bare.size() - 14] &= 0x7f;
    CHECK(receiver.unprotect_rtcp(bare).empty());
  }
}

}  // namespace carillon
