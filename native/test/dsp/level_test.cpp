#include "core/dsp/level.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace {

using carillon::kFrameSamples;
using carillon::Sample;
using carillon::VoiceDetector;
using carillon::test::noise;
using carillon::test::sine;

/// Returns the number of frames with voice in the signal.
size_t voiced_frames(VoiceDetector& detector, std::span<const Sample> signal) {
  size_t count = 0;
  for (size_t at = 0; at + kFrameSamples <= signal.size(); at += kFrameSamples) {
    count += detector.feed(carillon::narrow(signal.subspan(at, kFrameSamples))) ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("level: a full-scale sine is -3 dBov, half of it 6 dB less, silence -127 (RFC 6464 §3)") {
  CHECK(carillon::level_dbov(sine(1000, 32767, 8000, 160)) == doctest::Approx(-3.01).epsilon(0.01));
  CHECK(carillon::level_dbov(sine(1000, 16384, 8000, 160)) == doctest::Approx(-9.03).epsilon(0.01));
  CHECK(carillon::level_dbov(std::vector<Sample>(160)) == carillon::kSilenceDbov);
  CHECK(carillon::level_dbov({}) == carillon::kSilenceDbov);
  CHECK(carillon::level_dbov(std::vector<Sample>(160, -32768)) == doctest::Approx(0.0));
}

TEST_CASE("voice: detects speech on a quiet line from its first frame") {
  VoiceDetector detector;
  CHECK(voiced_frames(detector, noise(10, 16000, 1)) == 0);
  CHECK(detector.feed(carillon::narrow(noise(1500, kFrameSamples, 2))));
}

TEST_CASE("voice: adapts to steady noise within seconds and detects speech above it") {
  VoiceDetector detector;
  voiced_frames(detector, noise(300, 8000 * 8, 3));  // -41 dBov
  CHECK(voiced_frames(detector, noise(300, 8000, 4)) == 0);
  CHECK(detector.feed(carillon::narrow(noise(1500, kFrameSamples, 5))));
}

TEST_CASE("voice: never detects audio quieter than any speech, even on a very quiet line") {
  VoiceDetector detector;
  voiced_frames(detector, std::vector<Sample>(8000));
  CHECK(voiced_frames(detector, noise(40, 8000, 6)) == 0);  // -58 dBov
}

TEST_CASE("voice: lasts for the hangover and no longer") {
  VoiceDetector detector(VoiceDetector::Options{.hangover_ms = 200});
  voiced_frames(detector, std::vector<Sample>(1600));
  detector.feed(carillon::narrow(noise(3000, kFrameSamples, 7)));
  CHECK(voiced_frames(detector, std::vector<Sample>(kFrameSamples * 20)) == 10);
  CHECK(detector.silent_for() == carillon::kFrameTime * 20);
}

TEST_CASE("voice: a long sentence does not raise the floor") {
  VoiceDetector detector;
  voiced_frames(detector, noise(10, 8000, 8));
  // Syllables: 160 ms of voice and 60 ms of stop, for 10 s.
  size_t voiced = 0;
  for (int syllable = 0; syllable < 45; ++syllable) {
    voiced += voiced_frames(detector, noise(1500, kFrameSamples * 8, static_cast<unsigned>(syllable)));
    voiced_frames(detector, noise(10, kFrameSamples * 3, 99));
  }
  CHECK(voiced == 45 * 8);
}
