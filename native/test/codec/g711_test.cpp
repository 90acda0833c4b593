#include "core/codec/g711.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using carillon::G711Law;

// Reference model of G.711: a list of intervals in units of the law's resolution, one per code word. It scans
// the decision values and deliberately differs from the shifts in the implementation.
struct SlowLaw {
  int dropped_bits;
  std::vector<int> widths;   // by code word without sign, quietest first
  std::vector<int> outputs;  // 16-bit value of each code word
};

SlowLaw slow_mu() {
  SlowLaw law{2, {}, {}};
  int start = 0;
  for (int segment = 0; segment < 8; ++segment) {
    for (int step = 0; step < 16; ++step) {
      // The first interval has half the width, because zero lies in its middle (G.711 table 2a).
      const bool first = segment == 0 && step == 0;
      const int width = first ? 1 : 2 << segment;
      law.widths.push_back(width);
      law.outputs.push_back(first ? 0 : 4 * (start + width / 2));
      start += width;
    }
  }
  return law;
}

SlowLaw slow_a() {
  SlowLaw law{4, {}, {}};
  int start = 0;
  for (int segment = 0; segment < 8; ++segment) {
    for (int step = 0; step < 16; ++step) {
      const int width = segment < 2 ? 1 : 1 << (segment - 1);
      law.widths.push_back(width);
      law.outputs.push_back(16 * start + 8 * width);
      start += width;
    }
  }
  return law;
}

// Returns the index of the interval that contains the magnitude, limited to the last interval.
int slow_interval(const SlowLaw& law, int sample) {
  // ITU-T G.191: the magnitude of a negative sample is its one's complement.
  const int magnitude = (sample < 0 ? -1 - sample : sample) / (1 << law.dropped_bits);
  int end = 0;
  for (std::size_t i = 0; i < law.widths.size(); ++i) {
    end += law.widths[i];
    if (magnitude < end) return static_cast<int>(i);
  }
  return static_cast<int>(law.widths.size()) - 1;
}

int slow_code(G711Law which, const SlowLaw& law, int sample) {
  const int interval = slow_interval(law, sample);
  const int sign = sample < 0 ? 0 : 0x80;
  // mu-law transmits all magnitude bits inverted, A-law every second one (G.711 §3.3, §3.2).
  return which == G711Law::mu ? sign | (127 - interval) : (sign | interval) ^ 0x55;
}

int mismatches_in_encoding(G711Law which, const SlowLaw& law) {
  int wrong = 0;
  for (int sample = -32768; sample <= 32767; ++sample) {
    const auto code = carillon::g711_encode(which, static_cast<std::int16_t>(sample));
    if (code != slow_code(which, law, sample)) wrong += 1;
  }
  return wrong;
}

int mismatches_in_decoding(G711Law which, const SlowLaw& law) {
  int wrong = 0;
  for (int code = 0; code < 256; ++code) {
    const int interval = which == G711Law::mu ? 127 - (code & 0x7f) : (code ^ 0x55) & 0x7f;
    const int magnitude = law.outputs[static_cast<std::size_t>(interval)];
    const int expected = code < 0x80 ? -magnitude : magnitude;
    if (carillon::g711_decode(which, static_cast<std::uint8_t>(code)) != expected) wrong += 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("G.711: encodes all 65,536 samples as ITU-T G.191 does") {
  CHECK(mismatches_in_encoding(G711Law::mu, slow_mu()) == 0);
  CHECK(mismatches_in_encoding(G711Law::a, slow_a()) == 0);
}

TEST_CASE("G.711: decodes all 256 code words to the middle of their intervals") {
  CHECK(mismatches_in_decoding(G711Law::mu, slow_mu()) == 0);
  CHECK(mismatches_in_decoding(G711Law::a, slow_a()) == 0);
}

TEST_CASE("G.711: matches known values of the recommendation") {
  CHECK(carillon::g711_encode(G711Law::mu, 0) == 0xff);
  CHECK(carillon::g711_encode(G711Law::mu, -1) == 0x7f);
  CHECK(carillon::g711_encode(G711Law::mu, 32767) == 0x80);
  CHECK(carillon::g711_encode(G711Law::mu, -32768) == 0x00);
  CHECK(carillon::g711_decode(G711Law::mu, 0x80) == 32124);
  CHECK(carillon::g711_encode(G711Law::a, 0) == 0xd5);
  CHECK(carillon::g711_encode(G711Law::a, -1) == 0x55);
  CHECK(carillon::g711_encode(G711Law::a, 32767) == 0xaa);
  CHECK(carillon::g711_decode(G711Law::a, 0xaa) == 32256);
  CHECK(carillon::g711_decode(G711Law::a, 0xd5) == 8);
  for (const auto law : {G711Law::mu, G711Law::a}) {
    CHECK(carillon::g711_encode(law, 0) == carillon::g711_silence(law));
  }
}

TEST_CASE("G.711: re-encodes a decoded code word to itself, except for negative zero in mu-law") {
  for (int code = 0; code < 256; ++code) {
    const auto octet = static_cast<std::uint8_t>(code);
    CHECK(carillon::g711_encode(G711Law::a, carillon::g711_decode(G711Law::a, octet)) == octet);
    const auto again = carillon::g711_encode(G711Law::mu, carillon::g711_decode(G711Law::mu, octet));
    CHECK(again == (octet == 0x7f ? 0xff : octet));
  }
}

TEST_CASE("G.711: converts each code word to the other law via its sample value") {
  std::array<std::uint8_t, 256> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  for (const auto from : {G711Law::mu, G711Law::a}) {
    const auto to = from == G711Law::mu ? G711Law::a : G711Law::mu;
    std::array<std::uint8_t, 256> recoded{};
    carillon::g711_recode(from, codes, recoded);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      CHECK(recoded[i] == carillon::g711_encode(to, carillon::g711_decode(from, codes[i])));
    }
  }
}

TEST_CASE("G.711: converts a buffer like single samples, up to the shorter span") {
  const std::array<std::int16_t, 4> samples{0, -1, 12345, -32768};
  std::array<std::uint8_t, 3> codes{};
  carillon::g711_encode(G711Law::mu, samples, codes);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    CHECK(codes[i] == carillon::g711_encode(G711Law::mu, samples[i]));
  }
  std::array<std::int16_t, 8> back{};
  carillon::g711_decode(G711Law::mu, codes, back);
  CHECK(back[2] == carillon::g711_decode(G711Law::mu, codes[2]));
  CHECK(back[3] == 0);
}
