#include "core/dsp/machine_detector.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/dsp/beep_detector.hpp"
#include "core/dsp/plc.hpp"
#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"
#include "test/support/speech.hpp"

namespace {

using carillon::BeepDetector;
using carillon::kFrameSamples;
using carillon::MachineDetector;
using carillon::Sample;
using carillon::test::Babble;
using carillon::test::noise;
using carillon::test::sine;
using Decision = MachineDetector::Decision;
using Reason = MachineDetector::Reason;

constexpr size_t samples(size_t ms) { return ms * 8; }

void append(std::vector<Sample>& line, const std::vector<Sample>& more) {
  line.insert(line.end(), more.begin(), more.end());
}

void pause(std::vector<Sample>& line, size_t ms) { line.resize(line.size() + samples(ms)); }

/// Syllables without stops: one word.
std::vector<Sample> word(Babble& voice, size_t ms, double peak = 9000.0) {
  return voice.syllable(samples(ms), peak);
}

/// Processes the line frame by frame, with silence after its end.
std::optional<Decision> decide(std::vector<Sample> line, const MachineDetector::Options& options = {}) {
  line.resize(std::max(line.size(), samples(31'000)));
  MachineDetector detector(options);
  for (size_t at = 0; at + kFrameSamples <= line.size(); at += kFrameSamples) {
    if (const auto decision = detector.feed(carillon::narrow(std::span(line).subspan(at, kFrameSamples))))
      return decision;
  }
  return std::nullopt;
}

std::vector<Sample> hello(unsigned seed) {
  Babble voice(seed, 100.0 + 7.0 * (seed % 12));
  std::vector<Sample> line;
  pause(line, 100 * (seed % 9));
  append(line, word(voice, 180 + 20 * (seed % 6)));
  if (seed % 2 == 0) {
    pause(line, 120);
    append(line, word(voice, 250));
  }
  return line;
}

std::vector<Sample> announcement(unsigned seed) {
  Babble voice(seed, 100.0 + 7.0 * (seed % 12));
  std::vector<Sample> line;
  pause(line, 100 * (seed % 9));
  append(line, voice.talk(samples(6000)));
  return line;
}

/// Scales the line to a level and adds noise; 2 percent of the frames are lost and concealed.
std::vector<Sample> bad_line(std::vector<Sample> line, double level_dbfs, double snr_db, unsigned seed) {
  // The total time of the detector is 5 s.
  line.resize(line.size() + samples(6'000));
  double energy = 0.0;
  size_t active = 0;
  for (const Sample sample : line) {
    if (std::abs(static_cast<int>(sample)) < 100) continue;
    energy += static_cast<double>(sample) * sample;
    active += 1;
  }
  const double rms = std::sqrt(energy / static_cast<double>(active));
  const double gain = 32768.0 * std::pow(10.0, level_dbfs / 20.0) / rms;
  for (auto& sample : line) {
    sample = static_cast<Sample>(std::lround(std::clamp(sample * gain, -32768.0, 32767.0)));
  }
  carillon::test::add(line, noise(rms * gain * std::pow(10.0, -snr_db / 20.0), line.size(), seed));
  carillon::PacketLossConcealer<8> concealer;
  std::mt19937 random(seed);
  for (size_t at = 0; at + kFrameSamples <= line.size(); at += kFrameSamples) {
    const auto frame = std::span(line).subspan(at, kFrameSamples);
    if (random() % 50 == 0) {
      concealer.conceal(frame);
    } else {
      concealer.receive(frame);
    }
  }
  return line;
}

}  // namespace

TEST_CASE("AMD: classifies a word and 800 ms of silence as a person") {
  const auto decision = decide(hello(2));
  REQUIRE(decision);
  CHECK(!decision->machine);
  CHECK(decision->reason == Reason::human);
  CHECK(decision->after_ms < 2100);
}

TEST_CASE("AMD: classifies silence longer than initial_silence as a machine, at that time") {
  const auto decision = decide({}, {.initial_silence_ms = 2000});
  REQUIRE(decision);
  CHECK(decision->machine);
  CHECK(decision->reason == Reason::initial_silence);
  CHECK(decision->after_ms == 2000);
}

TEST_CASE("AMD: classifies more words than maximum_words as a machine, but not exactly as many") {
  Babble voice(5);
  std::vector<Sample> line;
  for (int i = 0; i < 4; ++i) {
    pause(line, 150);
    append(line, word(voice, 220));
  }
  CHECK(decide(line, {.maximum_words = 3})->reason == Reason::words);
  CHECK(decide(line, {.maximum_words = 4})->reason == Reason::human);
}

TEST_CASE("AMD: classifies more speech than initial_greeting as a machine, not counting pauses") {
  Babble voice(6);
  std::vector<Sample> line;
  for (int i = 0; i < 3; ++i) {
    pause(line, 300);
    append(line, word(voice, 600));
  }
  CHECK(decide(line, {.greeting_ms = 1200, .maximum_words = 10})->reason == Reason::greeting);
  CHECK(decide(line, {.greeting_ms = 2000, .maximum_words = 10})->reason == Reason::human);
}

TEST_CASE("AMD: classifies a single utterance longer than maximum_speech_length as a machine") {
  Babble voice(7);
  std::vector<Sample> line;
  pause(line, 500);
  append(line, word(voice, 1800));
  const MachineDetector::Options options{.greeting_ms = 5000, .maximum_word_ms = 1000};
  CHECK(decide(line, options)->reason == Reason::word_length);
}

TEST_CASE("AMD: assumes a person without a decision by machine_detection_time") {
  Babble voice(8);
  std::vector<Sample> line;
  for (int i = 0; i < 10; ++i) {
    pause(line, 600);
    append(line, word(voice, 200));
  }
  const auto decision = decide(line, {.total_ms = 2000, .maximum_words = 10});
  REQUIRE(decision);
  CHECK(!decision->machine);
  CHECK(decision->reason == Reason::timeout);
  CHECK(decision->after_ms == 2000);
}

TEST_CASE("AMD: does not count clicks as words") {
  std::vector<Sample> line;
  for (int i = 0; i < 8; ++i) {
    pause(line, 300);
    append(line, noise(5000, samples(30), static_cast<unsigned>(i)));
  }
  CHECK(decide(line, {.initial_silence_ms = 3000})->reason == Reason::initial_silence);
}

TEST_CASE("AMD: classifies a beep as a machine immediately") {
  std::vector<Sample> line;
  pause(line, 700);
  append(line, sine(1000, 6000, 8000, samples(400)));
  const auto decision = decide(line);
  REQUIRE(decision);
  CHECK(decision->reason == Reason::beep);
  CHECK(decision->machine);
  CHECK(decision->after_ms <= 700 + 120 + 40);
}

TEST_CASE("AMD: is at least 95 percent right at SNR 15 dB, -30 to -6 dBFS, 2 percent loss (media goals)") {
  int right = 0;
  int total = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto person = hello(seed);
    const auto mailbox = announcement(seed);
    for (const double level : {-30.0, -18.0, -6.0}) {
      const auto human = decide(bad_line(person, level, 15.0, seed));
      const auto machine = decide(bad_line(mailbox, level, 15.0, seed));
      right += human && !human->machine ? 1 : 0;
      right += machine && machine->machine ? 1 : 0;
      total += 2;
    }
  }
  CHECK(right >= total * 95 / 100);
}

TEST_CASE("AMD: decides once and limits the total time to 30 s") {
  MachineDetector detector({.total_ms = 60'000, .initial_silence_ms = 60'000});
  const std::vector<Sample> silence(kFrameSamples);
  int decisions = 0;
  uint32_t after_ms = 0;
  for (int i = 0; i < 4000; ++i) {
    if (const auto decision = detector.feed(carillon::narrow(silence))) {
      decisions += 1;
      after_ms = decision->after_ms;
    }
  }
  CHECK(decisions == 1);
  CHECK(after_ms == 30'000);
}

TEST_CASE("beep: detects a steady tone of 400 to 2,000 Hz for 120 ms, also in noise 15 dB below") {
  for (double frequency = 405; frequency < 2000; frequency += 61) {
    CAPTURE(frequency);
    auto tone = sine(frequency, 6000, 8000, samples(300));
    carillon::test::add(tone, noise(6000 / std::numbers::sqrt2 / 5.62, tone.size(), 3));
    BeepDetector detector;
    int beeps = 0;
    for (size_t at = 0; at < tone.size(); at += kFrameSamples) {
      beeps += detector.feed(carillon::narrow(std::span(tone).subspan(at, kFrameSamples))) ? 1 : 0;
    }
    CHECK(beeps == 1);
  }
}

TEST_CASE("beep: ignores speech, noise, ringback and a tone of 80 ms") {
  auto ringback = sine(440, 4000, 8000, samples(2000));
  carillon::test::add(ringback, sine(480, 4000, 8000, samples(2000)));
  std::vector<Sample> blip = sine(1000, 6000, 8000, samples(80));
  pause(blip, 200);
  Babble voice(11);
  for (const auto& line : {ringback, blip, voice.talk(samples(30'000)), noise(5000, samples(5000), 1)}) {
    BeepDetector detector;
    for (size_t at = 0; at + kFrameSamples <= line.size(); at += kFrameSamples) {
      REQUIRE(!detector.feed(carillon::narrow(std::span(line).subspan(at, kFrameSamples))));
    }
  }
}

TEST_CASE("AMD: the adaptive rules accept the greeting of a business, and reject announcements") {
  const MachineDetector::Options adaptive{.adaptive = true};
  Babble voice(9);
  // One sentence of 2.8 s, with pauses as behind a comma.
  std::vector<Sample> business;
  for (int i = 0; i < 4; ++i) {
    pause(business, i == 0 ? 300 : 150);
    append(business, word(voice, 600));
  }
  const auto person = decide(business, adaptive);
  REQUIRE(person);
  CHECK(!person->machine);
  CHECK(person->after_ms <= 300 + 2850 + 850);
  CHECK(decide(business)->machine);
  // The same speech continues without a long pause.
  std::vector<Sample> announcement = business;
  pause(announcement, 150);
  append(announcement, word(voice, 900));
  CHECK(decide(announcement, adaptive)->reason == Reason::greeting);
  // Two sentences.
  std::vector<Sample> sentences;
  pause(sentences, 300);
  append(sentences, word(voice, 1200));
  pause(sentences, 500);
  append(sentences, word(voice, 1200));
  const auto machine = decide(sentences, adaptive);
  CHECK(machine->reason == Reason::greeting);
  CHECK(machine->after_ms <= 300 + 1200 + 500 + 1100);
}
