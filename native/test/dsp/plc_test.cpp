#include "core/dsp/plc.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <vector>

#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace {

using carillon::kFrameSamples;
using carillon::kLineRate;
using carillon::PacketLossConcealer;
using carillon::Sample;
using carillon::test::noise;
using carillon::test::rms;
using carillon::test::sine;
using carillon::test::sine_snr_db;

constexpr size_t kDelay = PacketLossConcealer<8>::kDelaySamples;

/// Passes the signal through in frames of 20 ms, losing the given frames.
std::vector<Sample> through(std::vector<Sample> signal, const std::set<size_t>& lost_frames) {
  PacketLossConcealer<8> concealer;
  for (size_t at = 0, frame = 0; at + kFrameSamples <= signal.size(); at += kFrameSamples, ++frame) {
    const auto span = std::span(signal).subspan(at, kFrameSamples);
    if (lost_frames.contains(frame)) {
      concealer.conceal(span);
    } else {
      concealer.receive(span);
    }
  }
  return signal;
}

std::span<const Sample> frame_of(const std::vector<Sample>& signal, size_t frame) {
  return std::span(signal).subspan(frame * kFrameSamples + kDelay, kFrameSamples);
}

/// Returns a voiced sound: harmonics of 110 Hz.
std::vector<Sample> voiced(size_t samples) {
  auto out = sine(110.0, 6000.0, kLineRate, samples);
  for (const int harmonic : {2, 3, 4, 5, 6, 7}) {
    carillon::test::add(out, sine(110.0 * harmonic, 6000.0 / harmonic, kLineRate, samples, harmonic));
  }
  return out;
}

int largest_step(std::span<const Sample> signal) {
  int largest = 0;
  for (size_t i = 1; i < signal.size(); ++i) largest = std::max(largest, std::abs(signal[i] - signal[i - 1]));
  return largest;
}

}  // namespace

TEST_CASE("PLC: passes audio without loss unchanged, 3.75 ms later (G.711 App. I)") {
  const auto signal = noise(4000.0, 1600, 1);
  const auto out = through(signal, {});
  CHECK(std::equal(out.begin() + kDelay, out.end(), signal.begin()));
  CHECK(rms(std::span(out).first(kDelay)) == 0.0);
}

TEST_CASE("PLC: continues a steady tone at full level and phase in the first 10 ms of a lost frame") {
  const auto out = through(sine(250.0, 10000.0, kLineRate, 3200), {10});
  const auto around = std::span(out).subspan(9 * kFrameSamples + kDelay, kFrameSamples + 80);
  CHECK(sine_snr_db(around, 250.0, kLineRate) > 40.0);
}

TEST_CASE("PLC: lowers the level by 20 percent of full level every 10 ms after the first 10 ms") {
  const auto out = through(sine(250.0, 10000.0, kLineRate, 4800), {10, 11, 12, 13});
  const double full = 10000.0 / std::numbers::sqrt2;
  const auto block = [&](size_t index) {
    return rms(std::span(out).subspan(10 * kFrameSamples + kDelay + index * 80, 80)) / full;
  };
  CHECK(block(0) == doctest::Approx(1.0).epsilon(0.02));
  for (size_t i = 1; i <= 5; ++i) {
    CAPTURE(i);
    CHECK(block(i) == doctest::Approx(1.1 - 0.2 * static_cast<double>(i)).epsilon(0.1));
  }
}

TEST_CASE("PLC: is silent after 60 ms of loss, however long it lasts") {
  std::set<size_t> lost;
  for (size_t frame = 10; frame < 400; ++frame) lost.insert(frame);
  const auto out = through(voiced(410 * kFrameSamples), lost);
  const auto silent = std::span(out).subspan(10 * kFrameSamples + kDelay + 480, 386 * kFrameSamples);
  CHECK(rms(silent) == 0.0);
}

TEST_CASE("PLC: lowers the level at 16 kHz by 10 percent of full level every 10 ms, to silence") {
  constexpr int kRate = 16000;
  constexpr size_t kBlock = 160;
  PacketLossConcealer<16> concealer;
  auto heard = sine(250.0, 10000.0, kRate, 20 * kBlock);
  concealer.receive(heard);
  std::vector<Sample> out(14 * kBlock);
  concealer.conceal(out);
  constexpr size_t kLate = PacketLossConcealer<16>::kDelaySamples;
  const double full = 10000.0 / std::numbers::sqrt2;
  for (size_t i = 1; i <= 10; ++i) {
    CAPTURE(i);
    const double level = rms(std::span(out).subspan(kLate + i * kBlock, kBlock)) / full;
    CHECK(level == doctest::Approx(1.05 - 0.1 * static_cast<double>(i)).epsilon(0.1));
  }
  CHECK(rms(std::span(out).subspan(kLate + 11 * kBlock, kBlock)) == 0.0);
}

TEST_CASE("PLC: conceals a lost frame of speech without a click at either end") {
  const auto signal = voiced(4800);
  const auto out = through(signal, {10, 20});
  CHECK(largest_step(out) <= largest_step(signal) * 11 / 10);
  CHECK(rms(frame_of(out, 10)) > 0.8 * rms(frame_of(signal, 10)));
}

TEST_CASE("PLC: does not change audio after the crossfade that follows a loss") {
  const auto signal = noise(4000.0, 4800, 9);
  const auto out = through(signal, {10, 11});
  const auto at = static_cast<ptrdiff_t>(12 * kFrameSamples + 80);
  CHECK(std::equal(out.begin() + at + static_cast<ptrdiff_t>(kDelay), out.end(), signal.begin() + at));
}

TEST_CASE("PLC: continues a voiced sound with its own period") {
  // Compare 10 ms of the concealment with the audio one pitch period earlier.
  const auto out = through(voiced(4800), {10});
  const size_t start = 10 * kFrameSamples + kDelay;
  const size_t period = 73;  // 8000 / 110, rounded
  double error = 0.0;
  for (size_t i = start; i < start + 80; ++i) error += std::abs(out[i] - out[i - period]);
  CHECK(error / 80.0 < 0.12 * rms(std::span(out).subspan(start, 80)));
}

TEST_CASE("PLC: handles a loss before any audio, odd lengths and reset") {
  PacketLossConcealer<8> concealer;
  std::vector<Sample> frame(kFrameSamples, 1);
  concealer.conceal(frame);
  CHECK(rms(frame) == 0.0);
  CHECK(concealer.concealing());
  for (const size_t length : {size_t{0}, size_t{1}, size_t{79}, size_t{81}, size_t{400}, size_t{480}}) {
    auto loud = noise(20000.0, length, 4);
    concealer.receive(loud);
    std::vector<Sample> gap(length);
    concealer.conceal(gap);
  }
  concealer.reset();
  CHECK(!concealer.concealing());
  auto fresh = noise(1000.0, kFrameSamples, 2);
  const auto original = fresh;
  concealer.receive(fresh);
  CHECK(std::equal(fresh.begin() + kDelay, fresh.end(), original.begin()));
}
