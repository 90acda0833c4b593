#include "core/record/digit_mask.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace {

using carillon::DigitMask;
using carillon::Frame;
using carillon::kFrameSamples;
using carillon::kLineRate;
using carillon::kSilentFrame;
using carillon::Sample;

struct Heard {
  std::vector<Sample> received;
  std::vector<Sample> sent;
};

Frame frame_of(const std::vector<Sample>& audio, size_t index) {
  Frame frame = kSilentFrame;
  const size_t from = index * kFrameSamples;
  for (size_t i = 0; i < frame.size() && from + i < audio.size(); ++i) frame[i] = audio[from + i];
  return frame;
}

void append(Heard& heard, const DigitMask::Sides* sides) {
  heard.received.insert(heard.received.end(), sides->received.begin(), sides->received.end());
  heard.sent.insert(heard.sent.end(), sides->sent.begin(), sides->sent.end());
}

/// Passes both sides through the mask.
Heard masked(const std::vector<Sample>& received, const std::vector<Sample>& sent) {
  DigitMask mask;
  Heard heard;
  for (size_t i = 0; i * kFrameSamples < received.size(); ++i) {
    if (const auto* ready = mask.push(frame_of(received, i), frame_of(sent, i))) append(heard, ready);
  }
  while (const auto* rest = mask.pop()) append(heard, rest);
  return heard;
}

/// Returns 600 ms with key 5 pressed for `tone_samples` samples, starting at sample `from`.
std::vector<Sample> press(size_t from, size_t tone_samples) {
  std::vector<Sample> audio(30 * kFrameSamples, 0);
  const auto low = carillon::test::sine(770, 6000, kLineRate, tone_samples);
  const auto high = carillon::test::sine(1336, 6000, kLineRate, tone_samples);
  carillon::test::add(std::span(audio).subspan(from), low);
  carillon::test::add(std::span(audio).subspan(from), high);
  return audio;
}

}  // namespace

TEST_CASE("digit mask: passes all other audio unchanged, 60 ms later") {
  const auto speech = carillon::test::noise(2000, 30 * kFrameSamples, 7);
  const auto other = carillon::test::sine(440, 8000, kLineRate, 30 * kFrameSamples);
  const Heard heard = masked(speech, other);
  CHECK(heard.received == speech);
  CHECK(heard.sent == other);
}

TEST_CASE("digit mask: removes keys of any length at any position in a frame completely") {
  for (const size_t samples : {size_t{400}, size_t{800}, size_t{2000}}) {
    for (size_t from = 1600; from < 1600 + kFrameSamples; from += 13) {
      const Heard heard = masked(press(from, samples), std::vector<Sample>(30 * kFrameSamples, 100));
      CAPTURE(from);
      CAPTURE(samples);
      CHECK(std::ranges::all_of(heard.received, [](Sample sample) { return sample == 0; }));
      // The other side continues unchanged.
      CHECK(std::ranges::all_of(heard.sent, [](Sample sample) { return sample == 100; }));
    }
  }
}

TEST_CASE("digit mask: silences the keys that we send") {
  const Heard heard = masked(std::vector<Sample>(30 * kFrameSamples, 100), press(1600, 800));
  CHECK(std::ranges::all_of(heard.sent, [](Sample sample) { return sample == 0; }));
  CHECK(std::ranges::all_of(heard.received, [](Sample sample) { return sample == 100; }));
}

TEST_CASE("digit mask: keeps speech up to 80 ms before a key and from 60 ms after it") {
  auto audio = press(2400, 800);
  carillon::test::add(std::span(audio).first(2400), carillon::test::noise(2000, 2400, 3));
  carillon::test::add(std::span(audio).subspan(3200), carillon::test::noise(2000, 1600, 4));
  const Heard heard = masked(audio, std::vector<Sample>(audio.size(), 0));
  const auto same = [&](size_t from, size_t until) {
    return std::equal(audio.begin() + static_cast<ptrdiff_t>(from),
                      audio.begin() + static_cast<ptrdiff_t>(until),
                      heard.received.begin() + static_cast<ptrdiff_t>(from));
  };
  CHECK(same(0, 2400 - 640));
  CHECK(same(3200 + 480, audio.size()));
}

TEST_CASE("digit mask: holds no frame before the first and after the last one") {
  DigitMask mask;
  CHECK(mask.pop() == nullptr);
  for (int i = 0; i < 3; ++i) CHECK(mask.push(kSilentFrame, kSilentFrame) == nullptr);
  CHECK(mask.push(kSilentFrame, kSilentFrame) != nullptr);
  for (int i = 0; i < 3; ++i) CHECK(mask.pop() != nullptr);
  CHECK(mask.pop() == nullptr);
}
