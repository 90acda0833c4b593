#include "core/dsp/fade.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using carillon::Sample;

TEST_CASE("fade: fade-out falls steadily to silence and stays there") {
  std::vector<Sample> audio(160, 10000);
  carillon::fade_out(audio, 32);
  CHECK(audio.front() > 9900);
  CHECK(std::is_sorted(audio.rbegin(), audio.rend()));
  CHECK(std::all_of(audio.begin() + 32, audio.end(), [](Sample s) { return s == 0; }));
}

TEST_CASE("fade: fade-in rises from silence and leaves the rest unchanged") {
  std::vector<Sample> audio(160, 10000);
  carillon::fade_in(audio, 32);
  CHECK(audio.front() < 100);
  CHECK(std::is_sorted(audio.begin(), audio.end()));
  CHECK(std::all_of(audio.begin() + 32, audio.end(), [](Sample s) { return s == 10000; }));
}

TEST_CASE("fade: a crossfade leaves equal signals unchanged and moves from one signal to another") {
  const std::vector<Sample> from(40, -8000);
  std::vector<Sample> same(160, -8000);
  carillon::crossfade(from, same);
  CHECK(std::all_of(same.begin(), same.end(), [](Sample s) { return s == -8000; }));
  std::vector<Sample> to(160, 8000);
  carillon::crossfade(from, to);
  CHECK(to[0] < -7900);
  CHECK(to[39] > 7900);
  CHECK(to[40] == 8000);
  CHECK(std::is_sorted(to.begin(), to.end()));
}

TEST_CASE("fade: audio shorter than the ramp gets only the first part of it") {
  std::vector<Sample> audio(8, 10000);
  carillon::fade_out(audio, 32);
  CHECK(audio.back() > 5000);
  carillon::fade_out({}, 32);
  carillon::fade_out(audio, 0);
  CHECK(audio.front() == 0);
}
