// Compares the processor's ciphers with OpenSSL's, packet by packet. The tests use the system's libcrypto,
// the product the one in the Node binary.
#include <doctest/doctest.h>

#include "core/crypto/processor.hpp"
#include "core/srtp/srtp_protection.hpp"
#include "fuzz/mutator.hpp"
#include "test/support/processor_keys.hpp"
#include "tls/srtp_ciphers.hpp"

namespace carillon {

namespace {

using Packet = std::vector<uint8_t>;

constexpr std::array kSuites{SrtpSuite::aes128_sha80, SrtpSuite::aes128_sha32, SrtpSuite::aes256_sha80,
                             SrtpSuite::aes256_sha32, SrtpSuite::aes128_gcm,   SrtpSuite::aes256_gcm};

struct Random : fuzz::Mutator {
  using Mutator::Mutator;
  uint8_t octet() { return static_cast<uint8_t>(below(256)); }
  void fill(std::span<uint8_t> bytes) {
    for (uint8_t& byte : bytes) byte = octet();
  }
};

SrtpKeys random_keys(Random& random, SrtpSuite suite) {
  SrtpKeys keys;
  keys.suite = suite;
  random.fill(keys.master);
  return keys;
}

/// Returns a packet with random CSRCs, header extension and body length.
Packet random_rtp(Random& random, uint16_t sequence) {
  const size_t sources = random.below(16);
  const size_t extension = random.below(3) == 0 ? 4 + 4 * random.below(20) : 0;
  Packet packet(12 + 4 * sources + extension + random.below(400));
  random.fill(packet);
  packet[0] = static_cast<uint8_t>(0x80 | sources | (extension > 0 ? 0x10 : 0));
  write_u16(packet, 2, sequence);
  write_u32(packet, 8, 7);  // one source, whose rollovers are counted
  if (extension > 0) write_u16(packet, 12 + 4 * sources + 2, static_cast<uint16_t>(extension / 4 - 1));
  return packet;
}

Packet random_rtcp(Random& random) {
  Packet packet(8 + 4 * random.below(60));
  random.fill(packet);
  return packet;
}

/// Seals a packet with `protect`, a member of SrtpProtection.
template <auto protect>
Packet sealed(SrtpProtection& by, Packet packet) {
  const size_t size = packet.size();
  packet.resize(size + PacketProtection::kMaxTail);
  packet.resize((by.*protect)(packet, size));
  return packet;
}

template <auto unprotect>
Packet opened(SrtpProtection& by, Packet packet) {
  const auto plain = (by.*unprotect)(packet);
  return {plain.begin(), plain.end()};
}

}  // namespace

TEST_SUITE("processor ciphers compared with OpenSSL" *
           doctest::skip(!processor_has_sha1() || !processor_has_aes())) {
  TEST_CASE("produce identical packets for any key, header and length, and open each other's packets") {
    Random random(11);
    for (const SrtpSuite suite : kSuites) {
      for (int round = 0; round < 20; ++round) {
        const SrtpKeys keys = random_keys(random, suite);
        SrtpProtection ours(keys, keys, srtp_ciphers);
        SrtpProtection oracle(keys, keys, openssl_ciphers);
        auto sequence = static_cast<uint16_t>(random.below(65'536));
        for (int i = 0; i < 40; ++i) {
          // Large steps cause many rollovers.
          sequence = static_cast<uint16_t>(sequence + 1 + random.below(30'000));
          const Packet rtp = random_rtp(random, sequence);
          const Packet wire = sealed<&SrtpProtection::protect_rtp>(ours, rtp);
          REQUIRE(wire == sealed<&SrtpProtection::protect_rtp>(oracle, rtp));
          Packet changed = wire;
          changed[random.below(changed.size())] ^= static_cast<uint8_t>(1U << random.below(8));
          REQUIRE(opened<&SrtpProtection::unprotect_rtp>(ours, changed) ==
                  opened<&SrtpProtection::unprotect_rtp>(oracle, changed));
          REQUIRE(opened<&SrtpProtection::unprotect_rtp>(oracle, wire) == rtp);
          REQUIRE(opened<&SrtpProtection::unprotect_rtp>(ours, wire) == rtp);
          const Packet rtcp = random_rtcp(random);
          const Packet report = sealed<&SrtpProtection::protect_rtcp>(ours, rtcp);
          REQUIRE(report == sealed<&SrtpProtection::protect_rtcp>(oracle, rtcp));
          REQUIRE(opened<&SrtpProtection::unprotect_rtcp>(oracle, report) == rtcp);
          REQUIRE(opened<&SrtpProtection::unprotect_rtcp>(ours, report) == rtcp);
        }
      }
    }
  }

  TEST_CASE("prefers the processor's ciphers") {
    Random random(12);
    const CipherPair own = srtp_ciphers(random_keys(random, SrtpSuite::aes128_sha80), CipherUse::seal);
    const CipherPair other = openssl_ciphers(random_keys(random, SrtpSuite::aes128_sha80), CipherUse::seal);
    CHECK(typeid(*own.rtp) != typeid(*other.rtp));
    CHECK(typeid(*own.rtcp) != typeid(*other.rtcp));
  }
}

}  // namespace carillon
