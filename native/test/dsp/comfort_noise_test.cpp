#include "core/dsp/comfort_noise.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "core/dsp/level.hpp"
#include "test/support/narrow.hpp"

namespace carillon::comfort_noise_test {

namespace {

using Sid = std::vector<uint8_t>;

/// Reflection coefficients of noise in a car, of a hiss and of a room.
const std::vector<Sid> kSpectra{{}, {10, 200, 110}, {240}, {40, 150, 100, 140, 120, 130, 120, 135, 122, 129}};

Sid sid_of(int level, const Sid& coefficients) {
  Sid sid(1 + coefficients.size(), static_cast<uint8_t>(level));
  std::ranges::copy(coefficients, sid.begin() + 1);
  return sid;
}

std::vector<Sample> noise_of(ComfortNoise& noise, const Sid& sid, size_t samples) {
  std::vector<Sample> out(samples);
  for (size_t i = 0; i < samples; i += kFrameSamples) {
    noise.add(sid, std::span(out).subspan(i, std::min<size_t>(kFrameSamples, samples - i)));
  }
  return out;
}

constexpr size_t kBlock = 256;

/// Discrete Fourier transform in place. The length is a power of two.
void transform(std::span<std::complex<double>> block) {
  const size_t size = block.size();
  for (size_t i = 0, reversed = 0; i < size; ++i) {
    if (i < reversed) std::swap(block[i], block[reversed]);
    size_t bit = size / 2;
    for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
    reversed |= bit;
  }
  for (size_t half = 1; half < size; half *= 2) {
    for (size_t k = 0; k < half; ++k) {
      const auto turn =
          std::polar(1.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(half));
      for (size_t i = k; i < size; i += 2 * half) {
        const auto turned = block[i + half] * turn;
        block[i + half] = block[i] - turned;
        block[i] += turned;
      }
    }
  }
}

using Spectrum = std::array<double, kBlock / 2>;

/// Averaged periodograms with a Hann window.
Spectrum spectrum_of(std::span<const Sample> audio) {
  std::array<double, kBlock> window{};
  for (size_t i = 0; i < kBlock; ++i) {
    window[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kBlock);
  }
  Spectrum spectrum{};
  for (size_t at = 0; at + kBlock <= audio.size(); at += kBlock / 2) {
    std::array<std::complex<double>, kBlock> block;
    for (size_t i = 0; i < kBlock; ++i) block[i] = audio[at + i] * window[i];
    transform(block);
    for (size_t bin = 0; bin < spectrum.size(); ++bin) spectrum[bin] += std::norm(block[bin]);
  }
  return spectrum;
}

double band_power(const Spectrum& spectrum, double from_hz, double to_hz) {
  double power = 0;
  for (size_t bin = 0; bin < spectrum.size(); ++bin) {
    const double hz = static_cast<double>(bin) * kLineRate / kBlock;
    if (hz >= from_hz && hz < to_hz) power += spectrum[bin];
  }
  return power;
}

/// Power of the model (RFC 3389 §3.2) in a band, in any unit.
double model_power(const Sid& coefficients, double from_hz, double to_hz) {
  std::vector<double> model;
  for (const uint8_t index : coefficients) {
    const double k = 258.0 * (index - 127) / 32768;
    const std::vector<double> before = model;
    for (size_t i = 0; i < model.size(); ++i) model[i] += k * before[before.size() - 1 - i];
    model.push_back(k);
  }
  double power = 0;
  for (double hz = from_hz; hz < to_hz; hz += 5) {
    std::complex<double> denominator = 1;
    for (size_t i = 0; i < model.size(); ++i) {
      denominator +=
          std::polar(model[i], -2 * std::numbers::pi * hz / kLineRate * static_cast<double>(i + 1));
    }
    power += 1 / std::norm(denominator);
  }
  return power;
}

double in_db(double ratio) { return 10 * std::log10(ratio); }

}  // namespace

TEST_SUITE("comfort noise") {
  TEST_CASE("has the level of the payload") {
    for (const Sid& coefficients : kSpectra) {
      for (int level = 30; level <= 70; level += 10) {
        CAPTURE(level);
        CAPTURE(coefficients.size());
        ComfortNoise noise;
        const auto audio = noise_of(noise, sid_of(level, coefficients), 24'000);
        CHECK(std::abs(level_dbov(std::span(audio).subspan(1600)) + level) < 1);
        // The most significant bit of the level is unused.
        ComfortNoise same;
        const auto marked = noise_of(same, sid_of(level | 0x80, coefficients), 24'000);
        CHECK(std::abs(level_dbov(std::span(marked).subspan(1600)) + level) < 1);
      }
    }
  }

  TEST_CASE("has the spectrum of the reflection coefficients") {
    for (const Sid& coefficients : kSpectra) {
      CAPTURE(coefficients.size());
      ComfortNoise noise;
      const Spectrum spectrum = spectrum_of(noise_of(noise, sid_of(30, coefficients), 80'000));
      const double whole = model_power(coefficients, 0, 4000);
      const double all = band_power(spectrum, 0, 4000);
      for (const auto& [from, to] :
           {std::pair{200, 400}, {400, 800}, {800, 1600}, {1600, 2800}, {2800, 3900}}) {
        CAPTURE(from);
        const double expected = in_db(model_power(coefficients, from, to) / whole);
        const double measured = in_db(band_power(spectrum, from, to) / all);
        if (expected > -35) CHECK(std::abs(measured - expected) < 1.5);
      }
    }
  }

  TEST_CASE("stays bounded for malformed coefficients") {
    for (const int index : {0, 1, 126, 127, 128, 253, 254, 255}) {
      const auto value = static_cast<uint8_t>(index);
      for (const size_t count : {1U, 5U, 12U, 40U, 1000U}) {
        CAPTURE(index);
        CAPTURE(count);
        ComfortNoise noise;
        const auto audio = noise_of(noise, sid_of(30, Sid(count, value)), 16'000);
        CHECK(level_dbov(std::span(audio).subspan(1600)) < -28);
      }
    }
    ComfortNoise noise;
    std::vector<Sample> audio(kFrameSamples, 5);
    noise.add({}, audio);
    CHECK(std::ranges::all_of(audio, [](Sample sample) { return sample == 5; }));
    CHECK_FALSE(noise.active());
  }

  TEST_CASE("begins, changes and ends gradually, and in blocks of any length") {
    for (const size_t block : {1U, 7U, 160U, 333U}) {
      ComfortNoise noise;
      std::vector<Sample> audio(4800);
      for (size_t i = 0; i < audio.size(); i += block) {
        const auto out = std::span(audio).subspan(i, std::min(block, audio.size() - i));
        if (i < 1600) {
          noise.add(sid_of(30, {}), out);
        } else if (i < 3200) {
          noise.add(sid_of(40, {60}), out);
        } else {
          noise.fade_out(out);
        }
      }
      CHECK_FALSE(noise.active());
      // The amplitude of white noise at -30 dBov is 1795.
      for (size_t i = 0; i < 40; ++i) CHECK(std::abs(audio[i]) <= 1800 * (static_cast<double>(i) + 1) / 160);
      const size_t end = (3200 + block - 1) / block * block;
      for (size_t i = 0; i < 160; ++i) {
        const double left = static_cast<double>(160 - i) / 160;
        CHECK(std::abs(audio[end + i]) <= 5 * 328 * left);
      }
      for (size_t i = end + 160; i < audio.size(); ++i) CHECK(audio[i] == 0);
    }
  }

  TEST_CASE("of two parties is not correlated") {
    ComfortNoise one;
    ComfortNoise other;
    auto sum = noise_of(one, sid_of(40, {}), 16'000);
    const auto second = noise_of(other, sid_of(40, {}), 16'000);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = saturate(sum[i] + second[i]);
    CHECK(level_dbov(std::span(sum).subspan(1600)) == doctest::Approx(-37).epsilon(0.02));
  }
}

}  // namespace carillon::comfort_noise_test
