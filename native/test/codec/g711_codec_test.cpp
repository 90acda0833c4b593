#include "core/codec/g711_codec.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/codec/g711.hpp"

namespace carillon {

TEST_SUITE("G.711 codec") {
  TEST_CASE("gives the same output whether or not the concealer is bypassed, for any packets and losses") {
    for (unsigned seed = 0; seed < 20; ++seed) {
      std::mt19937 random(seed);
      G711Decoder codec;
      PacketLossConcealer<8> reference;
      Coding coding = Coding::pcmu;
      for (int i = 0; i < 2000; ++i) {
        const size_t count = random() % 8 == 0 ? 1 + random() % 960 : 160;
        std::vector<Sample> heard(count);
        std::vector<Sample> expected(count);
        const auto what = random() % 40;
        if (what == 0) coding = coding == Coding::pcmu ? Coding::pcma : Coding::pcmu;
        if (what == 1) {
          codec.silence(heard);
          reference.receive(expected);
        } else if (what < 5) {
          codec.conceal(heard, {});
          reference.conceal(expected);
        } else {
          std::vector<uint8_t> payload(count);
          for (auto& octet : payload) octet = static_cast<uint8_t>(random());
          codec.decode({coding, payload, {}, {}}, heard);
          g711_decode(coding == Coding::pcma ? G711Law::a : G711Law::mu, payload, expected);
          // Feed single frames, as the codec is called, because the crossfade after a loss depends on the
          // calls.
          reference.receive(expected);
        }
        REQUIRE(heard == expected);
      }
    }
  }

  TEST_CASE("encodes with the given law, one octet per sample") {
    G711Encoder codec;
    const std::vector<Sample> samples{-32768, -1000, -1, 0, 1, 1000, 32767};
    std::vector<uint8_t> octets(samples.size() + 3, 0x55);
    for (const Coding coding : {Coding::pcmu, Coding::pcma}) {
      CHECK(codec.encode(coding, samples, octets) == ByteCount(samples.size()));
      std::vector<uint8_t> expected(samples.size());
      g711_encode(coding == Coding::pcma ? G711Law::a : G711Law::mu, samples, expected);
      CHECK(std::equal(expected.begin(), expected.end(), octets.begin()));
    }
  }
}

}  // namespace carillon
