#include "core/dsp/mixer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace {

using carillon::FloorDetector;
using carillon::kFrameSamples;
using carillon::Limiter;
using carillon::Mixer;
using carillon::Sample;
using carillon::test::sine;

struct Said {
  FloorDetector::Member member;
  double dbov;
};

/// Feeds the same frame `frames` times. Returns how often the holder changed.
int speak(FloorDetector& floor, const std::vector<Said>& said, uint32_t frames) {
  int changes = 0;
  for (uint32_t i = 0; i < frames; ++i) {
    floor.begin();
    for (const auto& one : said) floor.add(one.member, one.dbov > -50.0, one.dbov);
    changes += floor.decide() ? 1 : 0;
  }
  return changes;
}

constexpr double kQuiet = -70.0;

}  // namespace

TEST_CASE("mixer: each member hears the others and not itself") {
  const auto a = sine(400, 5000, 8000, kFrameSamples);
  const auto b = sine(700, 5000, 8000, kFrameSamples);
  const auto c = sine(1100, 5000, 8000, kFrameSamples);
  Mixer mixer;
  mixer.begin(carillon::kNarrowband);
  for (const auto* member : {&a, &b, &c}) mixer.add(*member);
  carillon::Frame heard(carillon::kNarrowband);
  Limiter limiter(Limiter::kRoom);
  mixer.mix_without(a, limiter, heard);
  auto expected = b;
  carillon::test::add(expected, c);
  CHECK(std::ranges::equal(heard, expected));
}

TEST_CASE("mixer: a listener hears all members, and a new frame starts with silence") {
  Mixer mixer;
  mixer.begin(carillon::kNarrowband);
  mixer.add(std::vector<Sample>(kFrameSamples, 100));
  mixer.add(std::vector<Sample>(kFrameSamples, 23));
  carillon::Frame heard(carillon::kNarrowband);
  Limiter limiter(Limiter::kRoom);
  mixer.mix_without({}, limiter, heard);
  CHECK(std::ranges::equal(heard, std::vector<Sample>(kFrameSamples, 123)));
  mixer.begin(carillon::kNarrowband);
  mixer.mix_without({}, limiter, heard);
  CHECK(std::ranges::equal(heard, std::vector<Sample>(kFrameSamples, 0)));
}

TEST_CASE("mixer: limits the sum to -1 dBFS after subtracting the member's own audio") {
  Mixer mixer;
  mixer.begin(carillon::kNarrowband);
  const std::vector<Sample> loud(kFrameSamples, 30000);
  for (int i = 0; i < 3; ++i) mixer.add(loud);
  carillon::Frame heard(carillon::kNarrowband);
  Limiter limiter(Limiter::kRoom);
  mixer.mix_without(loud, limiter, heard);
  CHECK(heard[0] == 29204);
  limiter = Limiter(Limiter::kRoom);
  const std::vector<Sample> negative(kFrameSamples, -32768);
  mixer.begin(carillon::kNarrowband);
  mixer.add(loud);
  mixer.add(negative);
  mixer.mix_without(negative, limiter, heard);
  CHECK(heard[0] == 29204);
  limiter = Limiter(Limiter::kRoom);
  mixer.begin(carillon::kNarrowband);
  mixer.add(std::vector<Sample>(kFrameSamples, 29000));
  mixer.add(negative);
  mixer.mix_without(negative, limiter, heard);
  CHECK(heard[0] == 29000);
}

TEST_CASE("mixer: treats short or absent audio as silence") {
  Mixer mixer;
  mixer.begin(carillon::kNarrowband);
  mixer.add(std::vector<Sample>(80, 50));
  mixer.add({});
  carillon::Frame heard(carillon::kNarrowband);
  Limiter limiter(Limiter::kRoom);
  mixer.mix_without({}, limiter, heard);
  CHECK(heard[79] == 50);
  CHECK(heard[80] == 0);
  CHECK(heard[159] == 0);
}

TEST_CASE("floor: the first speaker gets the free floor after 60 ms; a click does not") {
  FloorDetector floor;
  CHECK(speak(floor, {{1, -20}, {2, kQuiet}}, 2) == 0);
  CHECK(speak(floor, {{1, kQuiet}, {2, kQuiet}}, 5) == 0);
  CHECK(!floor.holder());
  CHECK(speak(floor, {{1, kQuiet}, {2, -25}}, 3) == 1);
  CHECK(floor.holder() == 2);
}

TEST_CASE("floor: a challenger gets it only when 6 dB louder for 100 ms, or when the holder is silent") {
  FloorDetector floor;
  speak(floor, {{1, -25}}, 10);
  CHECK(speak(floor, {{1, -25}, {2, -22}}, 50) == 0);
  CHECK(speak(floor, {{1, -25}, {2, -15}}, FloorDetector::kTakeOverFrames - 1) == 0);
  CHECK(speak(floor, {{1, -25}, {2, -15}}, 1) == 1);
  CHECK(floor.holder() == 2);
  CHECK(speak(floor, {{1, -40}, {2, kQuiet}}, FloorDetector::kTakeOverFrames) == 1);
  CHECK(floor.holder() == 1);
}

TEST_CASE("floor: is kept during pauses and free after one second of silence") {
  FloorDetector floor;
  speak(floor, {{1, -25}}, 10);
  CHECK(speak(floor, {{1, kQuiet}}, FloorDetector::kReleaseFrames - 1) == 0);
  CHECK(floor.holder() == 1);
  CHECK(speak(floor, {{1, kQuiet}}, 1) == 1);
  CHECK(!floor.holder());
}

TEST_CASE("floor: is free when its holder leaves") {
  FloorDetector floor;
  speak(floor, {{1, -25}}, 10);
  CHECK(!floor.forget(2));
  CHECK(floor.forget(1));
  CHECK(!floor.holder());
}
