#include "core/record/recorder.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace {

using carillon::kFrameSamples;
using carillon::Recorder;
using carillon::Sample;

const std::vector<Sample> kReceived(kFrameSamples, 100);
const std::vector<Sample> kSent(kFrameSamples, -7);
const std::vector<Sample> kSilence(kFrameSamples, 0);

Sample first_of(Recorder::Side side, bool stereo) {
  Recorder recorder({.side = side, .stereo = stereo}, carillon::kNarrowband);
  return recorder.take(kReceived, kSent).front();
}

}  // namespace

TEST_CASE("recorder: records one side, a mix of both, or left = received and right = sent") {
  CHECK(first_of(Recorder::Side::received, false) == 100);
  CHECK(first_of(Recorder::Side::sent, false) == -7);
  CHECK(first_of(Recorder::Side::both, false) == 93);
  CHECK(first_of(Recorder::Side::received, true) == 100);
  Recorder stereo({.side = Recorder::Side::both, .stereo = true}, carillon::kNarrowband);
  CHECK(stereo.channels() == 2);
  const auto block = stereo.take(kReceived, kSent);
  REQUIRE(block.size() == 2 * kFrameSamples);
  CHECK(block[0] == 100);
  CHECK(block[1] == -7);
  CHECK(block[2 * kFrameSamples - 1] == -7);
}

TEST_CASE("recorder: replaces missing audio of a side with silence of the same length") {
  Recorder recorder({.side = Recorder::Side::both, .stereo = true}, carillon::kNarrowband);
  const auto block = recorder.take(kReceived, {});
  REQUIRE(block.size() == 2 * kFrameSamples);
  CHECK(block[1] == 0);
  CHECK(recorder.duration_ms() == 20);
}

TEST_CASE("recorder: ends at the maximum length, to the sample") {
  Recorder recorder({.side = Recorder::Side::received, .max_ms = 50}, carillon::kNarrowband);
  size_t samples = 0;
  for (int i = 0; i < 10; ++i) {
    recorder.hear(carillon::narrow(kReceived));
    CHECK(recorder.ended().has_value() == (i >= 2));
    samples += recorder.take(kReceived, kSent).size();
  }
  CHECK(samples == 400);
  CHECK(recorder.duration_ms() == 50);
  CHECK(recorder.ended() == Recorder::End::max_length);
}

TEST_CASE(
    "recorder: ends after the given silence of the peer, regardless of our audio; speech restarts the "
    "timer") {
  Recorder recorder({.side = Recorder::Side::both, .silence_end_ms = 1000}, carillon::kNarrowband);
  const auto hear = [&](int frames, const std::vector<Sample>& received) {
    for (int i = 0; i < frames; ++i) recorder.hear(carillon::narrow(received));
  };
  hear(49, kSilence);
  CHECK(!recorder.ended());
  hear(1, carillon::test::noise(2000, kFrameSamples, 2));
  hear(49, kSilence);
  CHECK(!recorder.ended());
  hear(1, kSilence);
  CHECK(recorder.ended() == Recorder::End::silence);
  // The audio that waited for packets is still recorded.
  CHECK(recorder.take(kSilence, kSent).size() == kFrameSamples);
}

TEST_CASE("recorder: records nothing and stops its timers while paused") {
  Recorder recorder({.side = Recorder::Side::received, .silence_end_ms = 100, .max_ms = 1000},
                    carillon::kNarrowband);
  recorder.take(kReceived, kSent);
  recorder.pause(true);
  for (int i = 0; i < 100; ++i) {
    recorder.hear(carillon::narrow(kSilence));
    CHECK(recorder.take(kSilence, kSilence).empty());
  }
  CHECK(!recorder.ended());
  recorder.pause(false);
  CHECK(recorder.take(kReceived, kSent).size() == kFrameSamples);
  CHECK(recorder.duration_ms() == 40);
}
