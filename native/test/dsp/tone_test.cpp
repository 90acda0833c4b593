#include "core/dsp/tone.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "core/dsp/dtmf.hpp"
#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace {

using carillon::kLineRate;
using carillon::Sample;
using carillon::ToneGenerator;
using carillon::ToneSpec;
using carillon::test::rms;
using carillon::test::sine_snr_db;

ToneSpec one_tone(double frequency_hz, uint32_t on_ms, uint32_t off_ms, bool loop) {
  ToneSpec spec;
  spec.loop = loop;
  spec.add(std::array{frequency_hz}, on_ms, off_ms);
  return spec;
}

std::vector<Sample> rendered(const ToneSpec& spec, size_t samples, size_t piece) {
  ToneGenerator generator;
  generator.start(spec);
  std::vector<Sample> out(samples);
  for (size_t at = 0; at < samples; at += piece) {
    generator.render(carillon::kNarrowband, std::span(out).subspan(at, std::min(piece, samples - at)));
  }
  return out;
}

}  // namespace

TEST_CASE("tone: consecutive frames form one clean sine") {
  const auto out = rendered(one_tone(440.0, 1000, 0, false), 8000, 160);
  CHECK(sine_snr_db(std::span(out).subspan(160, 7680), 440.0, kLineRate) > 70.0);
}

TEST_CASE("tone: 0 dBm0 has the level of the digital milliwatt (G.711 table 5)") {
  auto spec = one_tone(1000.0, 1000, 0, false);
  spec.level_dbm0 = 0.0;
  const auto out = rendered(spec, 8000, 160);
  // Mean square of the eight mu-law code words of the milliwatt sequence: 8,828 and 20,860, four times each.
  const double milliwatt = std::sqrt((4.0 * 8828.0 * 8828.0 + 4.0 * 20860.0 * 20860.0) / 8.0);
  CHECK(carillon::test::to_db(rms(std::span(out).subspan(160, 7200)) / milliwatt) ==
        doctest::Approx(0.0).epsilon(0.2));
}

TEST_CASE("tone: keeps the cadence's times to the sample and then ends") {
  ToneGenerator generator;
  auto spec = one_tone(425.0, 100, 50, false);
  spec.add(std::array{850.0}, 30, 0);
  generator.start(spec);
  std::vector<Sample> out(8000, 77);
  CHECK(generator.render(carillon::kNarrowband, out) == (100 + 50 + 30) * 8);
  CHECK(!generator.active());
  const auto part = [&](size_t from_ms, size_t to_ms) {
    return rms(std::span(out).subspan(from_ms * 8, (to_ms - from_ms) * 8));
  };
  CHECK(part(5, 95) > 1000.0);
  CHECK(part(100, 150) == 0.0);
  CHECK(part(155, 175) > 1000.0);
  CHECK(part(180, 1000) == 0.0);
}

TEST_CASE("tone: restarts a looping cadence, without a seam if the tone has no pause") {
  const auto cadence = rendered(one_tone(425.0, 100, 100, true), 8000, 160);
  for (size_t i = 0; i < 5; ++i) {
    CHECK(rms(std::span(cadence).subspan(i * 1600 + 100, 600)) > 1000.0);
    CHECK(rms(std::span(cadence).subspan(i * 1600 + 800, 800)) == 0.0);
  }
  // 333 ms is not a whole number of periods, so a restart would be detected.
  const auto dial_tone = rendered(one_tone(350.0, 333, 0, true), 16000, 160);
  CHECK(sine_snr_db(std::span(dial_tone).subspan(160), 350.0, kLineRate) > 70.0);
}

TEST_CASE("tone: yields the same samples for any division into pieces") {
  auto spec = one_tone(440.0, 55, 20, true);
  spec.add(std::array{480.0, 620.0}, 33, 0);
  const auto whole = rendered(spec, 4000, 4000);
  CHECK(rendered(spec, 4000, 160) == whole);
  CHECK(rendered(spec, 4000, 7) == whole);
}

TEST_CASE("tone: sums several frequencies, each at the requested level") {
  ToneSpec spec;
  spec.level_dbm0 = -15.0;
  spec.add(std::array{440.0, 480.0}, 1000, 0);
  const auto out = rendered(spec, 8000, 160);
  const auto steady = std::span(out).subspan(200, 7600);  // whole periods of both
  for (const double frequency : {440.0, 480.0}) {
    CHECK(carillon::test::fit_sine(steady, frequency, kLineRate).amplitude ==
          doctest::Approx(carillon::amplitude_of_dbm0(-15.0)).epsilon(0.01));
  }
}

TEST_CASE("tone: handles a cadence without length or with too many steps") {
  ToneGenerator generator;
  generator.start(ToneSpec{.loop = true});
  CHECK(!generator.active());
  generator.start(one_tone(440.0, 0, 0, true));
  CHECK(!generator.active());
  ToneSpec spec;
  for (size_t i = 0; i < ToneSpec::kMaxSteps; ++i) CHECK(spec.add(std::array{440.0}, 10, 10));
  CHECK(!spec.add(std::array{440.0}, 10, 10));
  const std::array<double, 5> five{100, 200, 300, 400, 500};
  ToneSpec crowded;
  CHECK(!crowded.add(five, 10, 10));
  CHECK(crowded.steps[0].frequency_count == carillon::ToneStep::kMaxFrequencies);
}

TEST_CASE("DTMF tones: consist of the key's row and column (Q.23), and exist for keys only") {
  const auto five = carillon::dtmf_tone('5', 80, 60);
  REQUIRE(five);
  CHECK(five->steps[0].frequencies_hz[0] == 770.0);
  CHECK(five->steps[0].frequencies_hz[1] == 1336.0);
  CHECK(five->steps[0].on_ms == 80);
  CHECK(five->steps[0].off_ms == 60);
  const auto hash = carillon::dtmf_tone('#', 80, 60);
  REQUIRE(hash);
  CHECK(hash->steps[0].frequencies_hz[0] == 941.0);
  CHECK(hash->steps[0].frequencies_hz[1] == 1477.0);
  CHECK(carillon::dtmf_tone('d', 1, 1)->steps[0].frequencies_hz[1] == 1633.0);
  for (const char other : {'w', 'E', ' ', '\0'}) CHECK(!carillon::dtmf_tone(other, 80, 60));
}
