#include "core/dsp/mixdown.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "test/support/narrow.hpp"

namespace carillon {

namespace {

Frame noise(std::mt19937& random, int peak) {
  std::uniform_int_distribution<int> any(-peak, peak);
  Frame frame(kNarrowband);
  for (Sample& sample : frame) sample = static_cast<Sample>(any(random));
  return frame;
}

}  // namespace

TEST_SUITE("mixdown") {
  TEST_CASE("outputs the exact sum if it fits, and silence without sources") {
    std::mt19937 random(1);
    Limiter limiter;
    Frame out(kNarrowband);
    Mixdown(out).finish(limiter);
    CHECK(out == kSilentFrame);
    for (int i = 0; i < 100; ++i) {
      const Frame a = noise(random, 16'000);
      const Frame b = noise(random, 16'000);
      Mixdown mix(out);
      mix.add(a);
      mix.add(b);
      mix.finish(limiter);
      for (size_t k = 0; k < out.size(); ++k) CHECK(out[k] == a[k] + b[k]);
    }
    CHECK(limiter.rests());
  }

  TEST_CASE("never reaches full scale by mixing, for any sequence of levels") {
    std::mt19937 random(2);
    Limiter limiter;
    for (int i = 0; i < 2000; ++i) {
      Frame out(kNarrowband);
      Mixdown mix(out);
      const int sources = 2 + static_cast<int>(random() % 8);
      for (int k = 0; k < sources; ++k) mix.add(noise(random, 1 + static_cast<int>(random() % 32'767)));
      mix.finish(limiter);
      for (const Sample sample : out) CHECK(std::abs(int{sample}) < 32'767);
    }
  }

  TEST_CASE("returns to the exact sum after limiting") {
    Limiter limiter;
    Frame loud(kNarrowband);
    loud.fill(30'000);
    Frame out(kNarrowband);
    Mixdown both(out);
    both.add(loud);
    both.add(loud);
    both.finish(limiter);
    CHECK(out.samples().back() <= 32'000);
    CHECK_FALSE(limiter.rests());
    int frames = 0;
    for (; !limiter.rests() && frames < 100; ++frames) {
      Mixdown one(out);
      one.add(loud);
      one.finish(limiter);
    }
    CHECK(frames >= 5);
    CHECK(frames <= 25);
    CHECK(out.samples().back() == 30'000);
  }
}

}  // namespace carillon
