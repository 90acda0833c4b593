#include "core/dsp/resampler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "test/support/signal.hpp"

namespace {

/// Resampler with a separate filter.
class Resampler {
 public:
  Resampler(int from, int to) : filter_(from, to), state_(filter_) {}
  std::size_t process(std::span<const std::int16_t> in, std::span<std::int16_t> out) {
    return state_.process(in, out);
  }
  void reset() { state_.reset(); }
  [[nodiscard]] std::size_t max_output(std::size_t samples) const { return filter_.max_output(samples); }
  [[nodiscard]] std::size_t delay_samples() const { return filter_.delay_samples(); }
  [[nodiscard]] int input_rate_hz() const { return filter_.input_rate_hz(); }

 private:
  carillon::ResamplerFilter filter_;
  carillon::Resampler state_;
};

using carillon::test::fit_sine;
using carillon::test::noise;
using carillon::test::sine;
using carillon::test::sine_snr_db;
using carillon::test::to_db;

constexpr double kLoud = 20000.0;

struct RatePair {
  int from;
  int to;
};

constexpr RatePair kLivePairs[] = {{8000, 16000}, {16000, 8000},  {8000, 24000},
                                   {24000, 8000}, {16000, 24000}, {24000, 16000}};
constexpr RatePair kFilePairs[] = {{44100, 8000}, {48000, 8000}, {44100, 16000}, {48000, 16000},
                                   {22050, 8000}, {11025, 8000}, {32000, 8000}};

// Feeds the signal in frames of 20 ms, as the engine does.
std::vector<std::int16_t> in_frames(Resampler& resampler, std::span<const std::int16_t> signal) {
  const auto frame = static_cast<std::size_t>(resampler.input_rate_hz() / 50);
  std::vector<std::int16_t> out;
  std::vector<std::int16_t> block(resampler.max_output(frame));
  for (std::size_t at = 0; at < signal.size(); at += frame) {
    const auto piece = signal.subspan(at, std::min(frame, signal.size() - at));
    const auto written = resampler.process(piece, block);
    out.insert(out.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(written));
  }
  return out;
}

std::vector<std::int16_t> convert(RatePair pair, std::span<const std::int16_t> signal) {
  Resampler resampler(pair.from, pair.to);
  auto out = in_frames(resampler, signal);
  // Exclude the filter's start from the measurement.
  out.erase(out.begin(), out.begin() + pair.to / 100);
  return out;
}

std::vector<std::int16_t> second_of(double frequency, int rate) {
  return sine(frequency, kLoud, rate, static_cast<std::size_t>(rate));
}

}  // namespace

TEST_CASE("resampler: has at least 75 dB SNR at 1 and 3 kHz for every pair of rates, frame by frame") {
  std::vector<RatePair> pairs(std::begin(kLivePairs), std::end(kLivePairs));
  pairs.insert(pairs.end(), std::begin(kFilePairs), std::end(kFilePairs));
  for (const auto pair : pairs) {
    for (const double frequency : {1000.0, 3000.0}) {
      CAPTURE(pair.from);
      CAPTURE(pair.to);
      CAPTURE(frequency);
      const auto out = convert(pair, second_of(frequency, pair.from));
      CHECK(sine_snr_db(out, frequency, pair.to) >= 75.0);
    }
  }
}

TEST_CASE("resampler: passes the telephone band 300-3,400 Hz within 1 dB") {
  for (const auto pair : kLivePairs) {
    for (const double frequency : {300.0, 1000.0, 2000.0, 3000.0, 3400.0}) {
      CAPTURE(pair.from);
      CAPTURE(pair.to);
      CAPTURE(frequency);
      const auto out = convert(pair, second_of(frequency, pair.from));
      CHECK(std::abs(to_db(fit_sine(out, frequency, pair.to).amplitude / kLoud)) <= 1.0);
    }
  }
}

TEST_CASE("resampler: attenuates frequencies above the lower rate's band by 75 dB") {
  for (const auto pair :
       {RatePair{16000, 8000}, RatePair{24000, 8000}, RatePair{48000, 8000}, RatePair{44100, 8000}}) {
    for (const double frequency : {4500.0, 5000.0, 6000.0, 7000.0, 7900.0}) {
      CAPTURE(pair.from);
      CAPTURE(frequency);
      const auto out = convert(pair, second_of(frequency, pair.from));
      CHECK(to_db(carillon::test::rms(out) / (kLoud / std::numbers::sqrt2)) <= -75.0);
    }
  }
}

TEST_CASE("resampler: has a delay of at most 2 ms, equal to delay_samples") {
  for (const auto pair : kLivePairs) {
    CAPTURE(pair.from);
    CAPTURE(pair.to);
    Resampler resampler(pair.from, pair.to);
    // A phase measured at 100 Hz is unambiguous up to 10 ms.
    const auto out = in_frames(resampler, second_of(100.0, pair.from));
    const auto steady = std::span<const std::int16_t>(out).subspan(static_cast<std::size_t>(pair.to / 100));
    const double lag = -fit_sine(steady, 100.0, pair.to).phase / (2.0 * std::numbers::pi * 100.0);
    CHECK(lag <= 0.002);
    CHECK(lag > 0.0);
    const double stated = static_cast<double>(resampler.delay_samples()) / pair.to;
    CHECK(std::abs(stated - lag) <= 0.6 / pair.to);
  }
}

TEST_CASE("resampler: yields the same samples for any division into blocks") {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> length(0, 2500);
  for (const auto pair : {RatePair{8000, 16000}, RatePair{24000, 16000}, RatePair{44100, 8000}}) {
    const auto signal = noise(5000.0, 20000, 3);
    Resampler whole(pair.from, pair.to);
    std::vector<std::int16_t> expected(whole.max_output(signal.size()));
    expected.resize(whole.process(signal, expected));
    Resampler pieces(pair.from, pair.to);
    std::vector<std::int16_t> out;
    std::vector<std::int16_t> block(pieces.max_output(2500));
    for (std::size_t at = 0; at < signal.size();) {
      const auto size = std::min(length(random), signal.size() - at);
      const auto written = pieces.process(std::span(signal).subspan(at, size), block);
      REQUIRE(written <= pieces.max_output(size));
      out.insert(out.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(written));
      at += size;
    }
    CHECK(out == expected);
  }
}

TEST_CASE("resampler: converts a 20 ms frame to exactly 20 ms between the live rates") {
  for (const auto pair : kLivePairs) {
    Resampler resampler(pair.from, pair.to);
    const std::vector<std::int16_t> frame(static_cast<std::size_t>(pair.from / 50));
    std::vector<std::int16_t> out(resampler.max_output(frame.size()));
    for (int i = 0; i < 10; ++i) {
      CHECK(resampler.process(frame, out) == static_cast<std::size_t>(pair.to / 50));
    }
  }
}

TEST_CASE("resampler: reset clears the state") {
  const auto signal = noise(8000.0, 333, 5);
  Resampler resampler(16000, 24000);
  std::vector<std::int16_t> first(resampler.max_output(signal.size()));
  std::vector<std::int16_t> second(first.size());
  first.resize(resampler.process(signal, first));
  resampler.reset();
  second.resize(resampler.process(signal, second));
  CHECK(first == second);
}

TEST_CASE("resampler: saturates instead of wrapping on overshoot after a full-scale step") {
  std::vector<std::int16_t> step(400, -32768);
  std::fill(step.begin() + 200, step.end(), std::int16_t{32767});
  Resampler resampler(8000, 16000);
  const auto out = in_frames(resampler, step);
  const std::size_t edge = 400 + resampler.delay_samples();
  const auto [low, high] =
      std::minmax_element(out.begin() + static_cast<std::ptrdiff_t>(edge) + 4, out.end());
  CHECK(*low > 25000);
  CHECK(*high == 32767);
}

TEST_CASE("resampler: the loudest sums saturate instead of wrapping") {
  for (const auto pair : {RatePair{8000, 16000}, RatePair{24000, 48000}, RatePair{16000, 8000}}) {
    CAPTURE(pair.from);
    Resampler resampler(pair.from, pair.to);
    const auto samples = static_cast<std::size_t>(pair.from / 100);
    std::vector<std::int16_t> impulse(samples);
    impulse[0] = 16384;
    const auto response = in_frames(resampler, impulse);
    // The signs of the response in reverse order, so that all products of one output are positive.
    std::vector<std::int16_t> signs(samples);
    const std::size_t up = std::max<std::size_t>(1, response.size() / samples);
    const std::size_t down = std::max<std::size_t>(1, samples / response.size());
    for (std::size_t i = 0; i < samples; ++i) {
      const auto weight = down == 1 ? response[i * up] : response[i / down];
      signs[samples - 1 - i] = weight < 0 ? std::int16_t{-32768} : std::int16_t{32767};
    }
    resampler.reset();
    const auto out = in_frames(resampler, signs);
    CHECK(out[(samples - 1) / down * up] == 32767);
  }
}

TEST_CASE("resampler: passes samples unchanged and without delay between equal rates") {
  const auto signal = noise(9000.0, 500, 11);
  Resampler resampler(8000, 8000);
  std::vector<std::int16_t> out(resampler.max_output(signal.size()));
  out.resize(resampler.process(signal, out));
  CHECK(out == signal);
  CHECK(resampler.delay_samples() == 0);
}

TEST_CASE("resampler: converts a whole recording without delay and keeps its length") {
  for (const auto pair :
       {RatePair{44100, 8000}, RatePair{8000, 16000}, RatePair{48000, 8000}, RatePair{8000, 8000}}) {
    CAPTURE(pair.from);
    const auto out = carillon::resample_whole(second_of(1000.0, pair.from), pair.from, pair.to);
    CHECK(out.size() == static_cast<std::size_t>(pair.to));
    const auto steady = std::span<const std::int16_t>(out).subspan(static_cast<std::size_t>(pair.to / 50),
                                                                   static_cast<std::size_t>(pair.to / 2));
    const double lag = fit_sine(steady, 1000.0, pair.to).phase / (2.0 * std::numbers::pi * 1000.0);
    CHECK(std::abs(lag) <= 0.6 / pair.to);
  }
  CHECK(carillon::resample_whole({}, 44100, 8000).empty());
}
