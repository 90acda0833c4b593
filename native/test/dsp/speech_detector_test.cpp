#include "core/dsp/speech_detector.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "core/base/narrowband.hpp"
#include "test/support/signal.hpp"
#include "test/support/speech.hpp"

namespace carillon {

namespace {

using Kind = SpeechDetector::Kind;
using test::Babble;

struct Seen {
  Kind kind;
  size_t at_ms;
  uint32_t ago_ms;
  uint32_t confidence;
};

std::vector<Seen> events_of(std::span<const Sample> heard, const SpeechDetector::Options& options = {},
                            std::span<const Sample> sent = {}) {
  SpeechDetector detector(options);
  std::vector<Seen> seen;
  for (size_t at = 0; at + kNarrowFrame <= heard.size(); at += kNarrowFrame) {
    if (at + kNarrowFrame <= sent.size()) detector.sent({kNarrowband, sent.subspan(at, kNarrowFrame)});
    const auto event = detector.feed({kNarrowband, heard.subspan(at, kNarrowFrame)});
    if (event) seen.push_back({event->kind, (at + kNarrowFrame) / 8, event->ago_ms, event->confidence});
  }
  return seen;
}

size_t starts(const std::vector<Seen>& seen) {
  return static_cast<size_t>(std::ranges::count(seen, Kind::started, &Seen::kind));
}

std::vector<Sample> line_with_speech(double noise_rms, size_t lead_ms, size_t tail_ms) {
  auto line = test::noise(noise_rms, lead_ms * 8, 1);
  Babble voice(3);
  auto said = voice.talk(8000);
  test::add(said, test::noise(noise_rms, said.size(), 2));
  line.insert(line.end(), said.begin(), said.end());
  const auto tail = test::noise(noise_rms, tail_ms * 8, 4);
  line.insert(line.end(), tail.begin(), tail.end());
  return line;
}

}  // namespace

TEST_SUITE("speech detector") {
  TEST_CASE("reports the begin and the end of speech with their times") {
    const auto seen = events_of(line_with_speech(10, 2000, 1500));
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].kind == Kind::started);
    CHECK(seen[0].at_ms >= 2020);
    CHECK(seen[0].at_ms <= 2160);
    CHECK(seen[0].at_ms - seen[0].ago_ms >= 1980);
    CHECK(seen[0].confidence > 50);
    CHECK(seen[0].confidence <= 100);
    CHECK(seen[1].kind == Kind::stopped);
    CHECK(seen[1].ago_ms == 500);
  }

  TEST_CASE("detects speech 10 dB above the noise") {
    CHECK(starts(events_of(line_with_speech(700, 3000, 1500))) == 1);
  }

  TEST_CASE("ignores a minute of noise, and noise that begins suddenly") {
    CHECK(events_of(test::noise(700, 8000 * 60, 5)).empty());
    std::vector<Sample> sudden(8000 * 2);
    const auto loud = test::noise(2000, 8000 * 10, 6);
    sudden.insert(sudden.end(), loud.begin(), loud.end());
    CHECK(events_of(sudden).empty());
  }

  TEST_CASE("ignores tones and pairs of tones") {
    for (const auto& [low, high] :
         {std::pair{350.0, 440.0}, {440.0, 480.0}, {697.0, 1209.0}, {425.0, 425.0}}) {
      CAPTURE(low);
      std::vector<Sample> line(8000 * 2);
      auto tone = test::sine(low, 4000, 8000, 8000);
      test::add(tone, test::sine(high, 4000, 8000, 8000));
      for (int i = 0; i < 3; ++i) {
        line.insert(line.end(), tone.begin(), tone.end());
        line.resize(line.size() + 8000);
      }
      test::add(line, test::noise(5, line.size(), 9));
      CHECK(events_of(line).empty());
    }
  }

  TEST_CASE("ignores the echo of sent audio, but not the caller speaking over it") {
    Babble bot(11, 180);
    const auto sent = bot.talk(8000 * 20);
    std::vector<Sample> heard(sent.size());
    for (size_t i = 1200; i < heard.size(); ++i) heard[i] = static_cast<Sample>(sent[i - 1200] / 8);
    test::add(heard, test::noise(5, heard.size(), 12));
    CHECK(events_of(heard, {}, sent).empty());
    // Without the reference, the echo is speech.
    CHECK(starts(events_of(heard)) > 0);
    Babble caller(13);
    const auto said = caller.talk(8000, 12000);
    for (size_t i = 0; i < said.size(); ++i) {
      heard[80'000 + i] = saturate(int32_t{heard[80'000 + i]} + said[i]);
    }
    CHECK(starts(events_of(heard, {}, sent)) == 1);
  }

  TEST_CASE("a steady tone of the caller is not an echo: speech after it is detected while the bot speaks") {
    for (const double amplitude : {1000.0, 4000.0, 16000.0}) {
      CAPTURE(amplitude);
      std::vector<Sample> heard(8000 * 5);
      const auto tone = test::sine(900, amplitude, 8000, 8000 * 5);
      heard.insert(heard.end(), tone.begin(), tone.end());
      Babble caller(13);
      const auto said = caller.talk(8000, 3000);
      heard.insert(heard.end(), said.begin(), said.end());
      test::add(heard, test::noise(5, heard.size(), 9));
      Babble bot(11, 180);
      const auto seen = events_of(heard, {}, bot.talk(heard.size()));
      REQUIRE(seen.size() == 1);
      CHECK(seen[0].at_ms > 10'000);
      CHECK(seen[0].at_ms <= 10'200);
    }
  }

  TEST_CASE("the minimum duration delays the report, and shorter sounds are not reported") {
    std::vector<Sample> line = test::noise(10, 16'000, 1);
    Babble voice(3);
    const auto syllable = voice.syllable(1200);  // 150 ms
    line.insert(line.end(), syllable.begin(), syllable.end());
    line.resize(line.size() + 16'000);
    CHECK(starts(events_of(line, {.minimum_ms = 40})) == 1);
    CHECK(starts(events_of(line, {.minimum_ms = 400})) == 0);
  }

  TEST_CASE("the end timeout sets the pause that ends speech") {
    const auto line = line_with_speech(10, 2000, 3000);
    for (const uint32_t end_ms : {200U, 1000U, 2000U}) {
      const auto seen = events_of(line, {.end_ms = end_ms});
      REQUIRE(seen.size() >= 2);
      CHECK(seen.back().kind == Kind::stopped);
      CHECK(seen.back().ago_ms == end_ms);
    }
  }

  TEST_CASE("a lower sensitivity ignores quiet speech in noise") {
    const auto line = line_with_speech(1500, 3000, 1500);
    CHECK(starts(events_of(line, {.sensitivity = 0})) == 0);
    CHECK(starts(events_of(line, {.sensitivity = 100})) > 0);
  }

  TEST_CASE("works at every line rate, and with full-scale and random input") {
    for (const SampleRate rate : kLineRates) {
      SpeechDetector detector({});
      Frame frame(rate);
      std::mt19937 random(1);
      for (int i = 0; i < 500; ++i) {
        const Sample extreme =
            i % 2 == 0 ? std::numeric_limits<Sample>::min() : std::numeric_limits<Sample>::max();
        for (Sample& sample : frame) sample = i < 250 ? extreme : static_cast<Sample>(random());
        detector.sent(frame);
        static_cast<void>(detector.feed(frame));
      }
    }
  }
}

}  // namespace carillon
