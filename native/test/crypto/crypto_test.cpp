// Test vectors of the standards. Skipped without processor support.
#include <doctest/doctest.h>

#include <numeric>
#include <string>

#include "core/crypto/aes.hpp"
#include "core/crypto/ghash.hpp"
#include "core/crypto/sha1.hpp"
#include "core/srtp/processor_ciphers.hpp"
#include "test/support/hex.hpp"

namespace carillon {

#ifdef CARILLON_X86_CRYPTO

namespace {

using test::hex;
using Octets = std::vector<uint8_t>;

Octets rising(size_t count) {
  Octets out(count);
  std::iota(out.begin(), out.end(), uint8_t{0});
  return out;
}

AesBlock block(std::string_view digits) {
  AesBlock out{};
  std::ranges::copy(hex(digits), out.begin());
  return out;
}

Octets hmac(Bytes key, Bytes text, Bytes more = {}) {
  const auto digest = PacketHmac(key).of(text, more);
  return {digest.begin(), digest.end()};
}

Octets of_text(std::string_view text) { return {text.begin(), text.end()}; }

constexpr std::string_view kRtpHeader = "8040f17b 8041f8d3 5501a0b2";
constexpr std::string_view kRtpBody =
    "47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472 6573";
constexpr std::string_view kGcmSalt = "51756964 2070726f 2071756f";

/// Seals a packet and opens it again.
Octets sealed(PacketCipher& cipher, PacketName name, Octets packet, size_t header, Bytes aad_bytes,
              size_t tag_bytes) {
  const Octets plain = packet;
  Octets tag(tag_bytes);
  const PacketParts parts{Bytes(packet).first(header), std::span(packet).subspan(header), aad_bytes};
  cipher.seal(name, parts, tag);
  Octets out = packet;
  out.insert(out.end(), tag.begin(), tag.end());
  CHECK(cipher.open(name, parts, tag));
  CHECK(packet == plain);
  return out;
}

Octets joined(std::string_view a, std::string_view b) { return hex(std::string(a) + std::string(b)); }

}  // namespace

TEST_SUITE("processor cryptography") {
  TEST_CASE("AES: FIPS 197 C.1 and C.3" * doctest::skip(!processor_has_aes())) {
    AesBlock out{};
    AesKey(rising(16)).encrypt(block("00112233445566778899aabbccddeeff"), out);
    CHECK(out == block("69c4e0d86a7b0430d8cdb78070b4c55a"));
    AesKey(rising(32)).encrypt(block("00112233445566778899aabbccddeeff"), out);
    CHECK(out == block("8ea2b7ca516745bfeafc49904b496089"));
  }

  TEST_CASE("AES in counter mode: RFC 3711 B.2" * doctest::skip(!processor_has_aes())) {
    const AesKey key(hex("2b7e151628aed2a6abf7158809cf4f3c"));
    Octets stream(16 * 0xff02);
    key.apply(block("f0f1f2f3f4f5f6f7f8f9fafbfcfd0000"), stream);
    const auto at = [&stream](size_t number) {
      const auto from = stream.begin() + static_cast<std::ptrdiff_t>(16 * number);
      return Octets(from, from + 16);
    };
    CHECK(at(0) == hex("e03ead0935c95e80e166b16dd92b4eb4"));
    CHECK(at(1) == hex("d23513162b02d0f72a43a2fe4a5f97ab"));
    CHECK(at(2) == hex("41e95b3bb0a2e8dd477901e4fca894c0"));
    CHECK(at(0xfeff) == hex("ec8cdf7398607cb0f2d21675ea9ea1e4"));
    CHECK(at(0xff00) == hex("362b7c3c6773516318a077d7fc5073ae"));
    CHECK(at(0xff01) == hex("6a2cc3787889374fbeb4c81b17ba6c44"));
  }

  TEST_CASE("HMAC-SHA1: RFC 2202 §3" * doctest::skip(!processor_has_sha1())) {
    CHECK(hmac(Octets(20, 0x0b), of_text("Hi There")) == hex("b617318655057264e28bc0b6fb378c8ef146be00"));
    const Octets jefe = of_text("Jefe");
    CHECK(hmac(jefe, of_text("what do ya want for nothing?")) ==
          hex("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"));
    CHECK(hmac(jefe, of_text("what do ya want for noth"), of_text("ing?")) ==
          hex("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"));
    CHECK(hmac(Octets(20, 0xaa), Octets(50, 0xdd)) == hex("125d7342b9ac11cd91a39af48aa17b4f63f175d3"));
    CHECK(hmac(hex("0102030405060708090a0b0c0d0e0f10111213141516171819"), Octets(50, 0xcd)) ==
          hex("4c9007f4026250c6bc8414f9bf50c86c2d7235da"));
  }

  TEST_CASE("AES-GCM of an RTP packet: RFC 7714 §16" * doctest::skip(!processor_has_aes())) {
    const PacketName name{0x5501a0b2, 0xf17b};
    const Octets packet = joined(kRtpHeader, kRtpBody);
    CHECK(sealed(*processor_gcm_cipher(rising(16), hex(kGcmSalt)), name, packet, 12, {}, 16) ==
          joined(kRtpHeader,
                 "f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833"
                 "899d7f27 beb16a91 52cf765e e4390cce"));
    CHECK(sealed(*processor_gcm_cipher(rising(32), hex(kGcmSalt)), name, packet, 12, {}, 16) ==
          joined(kRtpHeader,
                 "32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02 76ffae0f 1ba63799 b87b"
                 "7aa3db36 dfffd6b0 f9bb7878 d7a76c13"));
  }

  TEST_CASE("AES-GCM of an RTCP packet: RFC 7714 §17" * doctest::skip(!processor_has_aes())) {
    const Octets packet = hex(
        "81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef "
        "deadbeef deadbeef");
    CHECK(sealed(*processor_gcm_cipher(rising(16), hex(kGcmSalt)), {0x4d617273, 0x5d4}, packet, 8,
                 hex("800005d4"), 16) ==
          hex("81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda "
              "4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade"));
  }

  TEST_CASE("rejects unauthentic data and leaves it unchanged" * doctest::skip(!processor_has_sha1())) {
    const auto gcm = processor_gcm_cipher(rising(16), hex(kGcmSalt));
    const auto counter = processor_counter_cipher(rising(16), Octets(14, 1), Octets(20, 2));
    for (PacketCipher* const cipher : {gcm.get(), counter.get()}) {
      Octets packet = joined(kRtpHeader, kRtpBody);
      Octets tag(10);
      const PacketParts parts{Bytes(packet).first(12), std::span(packet).subspan(12), {}};
      cipher->seal({1, 2}, parts, tag);
      const Octets wire = packet;
      if (cipher == gcm.get()) CHECK_FALSE(cipher->open({1, 3}, parts, tag));
      for (uint8_t& byte : tag) {
        byte ^= 0x40;
        CHECK_FALSE(cipher->open({1, 2}, parts, tag));
        byte ^= 0x40;
      }
      CHECK(packet == wire);
      CHECK(cipher->open({1, 2}, parts, tag));
    }
  }
}

#endif

}  // namespace carillon
