#include "core/dsp/dtmf_detector.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "core/codec/g711.hpp"
#include "core/dsp/dtmf.hpp"
#include "core/dsp/plc.hpp"
#include "test/support/narrow.hpp"
#include "test/support/rounds.hpp"
#include "test/support/signal.hpp"
#include "test/support/speech.hpp"

namespace {

using carillon::DtmfDetector;
using carillon::kFrameSamples;
using carillon::Sample;
using carillon::test::noise;
using carillon::test::sine;

std::string heard(std::span<const Sample> signal, size_t frame = kFrameSamples) {
  DtmfDetector detector;
  std::string digits;
  for (size_t at = 0; at < signal.size(); at += frame) {
    if (const auto digit =
            detector.feed(carillon::narrow(signal.subspan(at, std::min(frame, signal.size() - at)))))
      digits += *digit;
  }
  return digits;
}

/// Two sines for a duration, followed by a pause.
struct Pair {
  double low_amplitude = 5000.0;
  double high_amplitude = 5000.0;
  double detune = 1.0;  // factor on both frequencies
  size_t on_ms = 80;
  size_t off_ms = 60;
};

std::vector<Sample> pressed(const std::string& digits, const Pair& pair, size_t offset = 0) {
  std::vector<Sample> out(offset);
  for (const char digit : digits) {
    const auto place = carillon::kDtmfKeypad.find(digit);
    auto tone = sine(carillon::kDtmfLowHz[place / 4] * pair.detune, pair.low_amplitude, 8000, pair.on_ms * 8);
    carillon::test::add(tone, sine(carillon::kDtmfHighHz[place % 4] * pair.detune, pair.high_amplitude, 8000,
                                   pair.on_ms * 8, 1.0));
    out.insert(out.end(), tone.begin(), tone.end());
    out.resize(out.size() + pair.off_ms * 8);
  }
  out.resize(out.size() + 800);
  return out;
}

const std::string kAllKeys(carillon::kDtmfKeypad);

}  // namespace

TEST_CASE("DTMF: detects all sixteen keys of our generator once each, also through G.711") {
  for (const auto law : {carillon::G711Law::mu, carillon::G711Law::a}) {
    std::vector<Sample> line;
    for (const char digit : kAllKeys) {
      carillon::ToneGenerator generator;
      generator.start(*carillon::dtmf_tone(digit, 80, 60));
      std::vector<Sample> press(140 * 8);
      generator.render(carillon::kNarrowband, press);
      for (auto& sample : press) sample = carillon::g711_decode(law, carillon::g711_encode(law, sample));
      line.insert(line.end(), press.begin(), press.end());
    }
    CHECK(heard(line) == kAllKeys);
  }
}

TEST_CASE("DTMF: detects 40 ms on and 40 ms off at any position in the blocks (Q.24)") {
  for (size_t offset = 0; offset < 102; ++offset) {
    CAPTURE(offset);
    CHECK(heard(pressed("159D", {.on_ms = 40, .off_ms = 40}, offset)) == "159D");
  }
}

TEST_CASE("DTMF: ignores a tone of 20 ms or less (Q.24: below 23 ms)") {
  for (size_t offset = 0; offset < 102; offset += 3) {
    CAPTURE(offset);
    CHECK(heard(pressed("159D", {.on_ms = 20, .off_ms = 60}, offset)) == "");
  }
}

TEST_CASE("DTMF: reports a key pressed twice as two digits, and a long press as one") {
  CHECK(heard(pressed("5555", {.on_ms = 60, .off_ms = 40})) == "5555");
  CHECK(heard(pressed("5", {.on_ms = 4000})) == "5");
}

TEST_CASE("DTMF: reports a digit once despite an interruption of 10 ms (Q.24)") {
  for (size_t offset = 0; offset < 102; offset += 7) {
    auto tone = pressed("8", {.on_ms = 200}, offset);
    std::fill_n(tone.begin() + static_cast<ptrdiff_t>(offset) + 700, 80, Sample{0});
    CAPTURE(offset);
    CHECK(heard(tone) == "8");
  }
}

TEST_CASE("DTMF: accepts 1.5 percent frequency deviation (Q.24)") {
  CHECK(heard(pressed(kAllKeys, {.detune = 1.015})) == kAllKeys);
  CHECK(heard(pressed(kAllKeys, {.detune = 0.985})) == kAllKeys);
}

TEST_CASE("DTMF: accepts twist of 8 dB (row louder) and 4 dB (column louder), but not 15 dB") {
  CHECK(heard(pressed(kAllKeys, {.low_amplitude = 8000, .high_amplitude = 8000 / 2.51})) == kAllKeys);
  CHECK(heard(pressed(kAllKeys, {.low_amplitude = 5000, .high_amplitude = 5000 * 1.58})) == kAllKeys);
  CHECK(heard(pressed(kAllKeys, {.low_amplitude = 8000, .high_amplitude = 8000 / 5.6})) == "");
  CHECK(heard(pressed(kAllKeys, {.low_amplitude = 8000 / 5.6, .high_amplitude = 8000})) == "");
}

TEST_CASE("DTMF: detects digits from full scale to -36 dBov, and in noise 15 dB below") {
  CHECK(heard(pressed(kAllKeys, {.low_amplitude = 16000, .high_amplitude = 16000})) == kAllKeys);
  CHECK(heard(pressed(kAllKeys, {.low_amplitude = 500, .high_amplitude = 500})) == kAllKeys);
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto line = pressed(kAllKeys, {.on_ms = 60, .off_ms = 60});
    carillon::test::add(line, noise(5000.0 / 5.62, line.size(), seed));
    CAPTURE(seed);
    CHECK(heard(line) == kAllKeys);
  }
}

TEST_CASE("DTMF: does not detect digits in speech, noise, single tones and dial tones") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    carillon::test::Babble voice(seed, 90.0 + 8.0 * seed);
    CAPTURE(seed);
    CHECK(heard(voice.talk(8000 * 20)) == "");
    CHECK(heard(noise(4000.0, 8000 * 5, seed)) == "");
  }
  for (double frequency = 300; frequency < 3400; frequency += 37) {
    CAPTURE(frequency);
    CHECK(heard(sine(frequency, 12000, 8000, 4000)) == "");
  }
  auto dial_tone = sine(350, 6000, 8000, 8000);
  carillon::test::add(dial_tone, sine(440, 6000, 8000, 8000));
  CHECK(heard(dial_tone) == "");
}

TEST_CASE(
    "DTMF: detects the same digits for any division; sounding() reports a held key; reset() clears the "
    "state") {
  const auto line = pressed(kAllKeys, {});
  for (const size_t frame : {size_t{1}, size_t{80}, size_t{101}, size_t{160}})
    CHECK(heard(line, frame) == kAllKeys);
  DtmfDetector detector;
  const auto press = pressed("3", {.on_ms = 100});
  detector.feed(carillon::narrow(std::span(press).first(400)));
  CHECK(detector.sounding() == '3');
  detector.feed(carillon::narrow(std::span(press).subspan(400)));
  CHECK(!detector.sounding());
  detector.feed(carillon::narrow(std::span(press).first(400)));
  detector.reset();
  CHECK(!detector.sounding());
}

namespace {

/// Digits heard after the loss of packets, which are concealed.
std::string heard_with_loss(std::span<const Sample> signal, double percent, unsigned seed) {
  DtmfDetector detector;
  carillon::PacketLossConcealer<8> concealer;
  std::mt19937 random(seed);
  std::string digits;
  for (size_t at = 0; at + kFrameSamples <= signal.size(); at += kFrameSamples) {
    carillon::Frame frame(carillon::kNarrowband);
    std::ranges::copy(signal.subspan(at, kFrameSamples), frame.begin());
    const bool lost = std::uniform_real_distribution<double>(0, 100)(random) < percent;
    if (lost) {
      concealer.conceal(frame);
    } else {
      concealer.receive(frame);
    }
    if (const auto digit = detector.feed(frame, lost)) digits += *digit;
  }
  return digits;
}

}  // namespace

TEST_CASE(
    "DTMF: with 2 % of packets lost, misses at most 3 of 1000 digits of 60 ms, and hears none in speech") {
  size_t wrong = 0;
  const auto seeds = static_cast<unsigned>(carillon::test::rounds(60, 240));
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const std::string keys = kAllKeys + kAllKeys;
    if (heard_with_loss(pressed(keys, {.on_ms = 60, .off_ms = 60}, 8 * seed), 2, seed) != keys) ++wrong;
  }
  CHECK(wrong * 1000 <= 3 * seeds * 32);
  for (unsigned seed = 0; seed < 12; ++seed) {
    carillon::test::Babble voice(seed, 90.0 + 8.0 * seed);
    CAPTURE(seed);
    CHECK(heard_with_loss(voice.talk(8000 * 60), 5, seed) == "");
  }
}
