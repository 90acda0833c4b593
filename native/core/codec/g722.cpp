#include "core/codec/g722.hpp"

#include <algorithm>
#include <cstddef>

namespace carillon {
namespace {

// Table 11: half of the symmetric QMF filter that splits the bands. Its gain at 0 Hz is 4096.
constexpr std::array<int, 12> kQmf{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11};

// Tables 14 to 18, low band: decision levels, codes by interval, step changes and values by code.
constexpr std::array<int, 30> kLowLevels{0,    35,   72,   110,  150,  190,  233,  276,  323,  370,
                                         422,  473,  530,  587,  650,  714,  786,  858,  940,  1023,
                                         1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919};
constexpr std::array<uint8_t, 31> kLowNegative{0,  63, 62, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19,
                                               18, 17, 16, 15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4};
constexpr std::array<uint8_t, 31> kLowPositive{0,  61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47,
                                               46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32};
constexpr std::array<int, 16> kLowStepChange{-60,  3042, 1198, 538, 334, 172, 58,  -30,
                                             3042, 1198, 538,  334, 172, 58,  -30, -60};
constexpr std::array<int, 16> kLowCoarse{0,     -20456, -12896, -8968, -6288, -4240, -2584, -1200,
                                         20456, 12896,  8968,   6288,  4240,  2584,  1200,  0};
constexpr std::array<int, 64> kLowFine{
    -136,  -136,  -136,  -136,  -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232,
    -9360, -8576, -7856, -7192, -6576,  -6000,  -5456,  -4944,  -4464,  -4008,  -3576,  -3168,  -2776,
    -2400, -2032, -1688, -1360, -1040,  -728,   24808,  21904,  19008,  16704,  14984,  13512,  12280,
    11192, 10232, 9360,  8576,  7856,   7192,   6576,   6000,   5456,   4944,   4464,   4008,   3576,
    3168,  2776,  2400,  2032,  1688,   1360,   1040,   728,    432,    136,    -432,   -136};
constexpr int kLowLogLimit = 18432;
constexpr int kLowOctaves = 8;
constexpr int kLowCodes = 0x3f;

// The same tables for the high band, which has two bits.
constexpr int kHighLevel = 564;
constexpr std::array<int, 4> kHighStepChange{798, -214, 798, -214};
constexpr std::array<int, 4> kHighValues{-7408, -1616, 7408, 1616};
constexpr int kHighLogLimit = 22528;
constexpr int kHighOctaves = 10;

// Table 19: powers of two in steps of 1/32 octave.
constexpr std::array<int, 32> kPowers{2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543,
                                      2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025, 3091, 3158, 3228,
                                      3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008};

constexpr int saturate16(int value) { return std::clamp(value, -32768, 32767); }
/// Limits the decoder's input to the synthesis filter (§6.2.1.6).
constexpr int saturate15(int value) { return std::clamp(value, -16384, 16383); }
constexpr int sign(int value) { return value >> 15; }
constexpr int magnitude(int difference) { return difference >= 0 ? difference : -(difference + 1); }

template <size_t kSize>
void push(std::array<int, kSize>& by_age, int newest) {
  std::copy_backward(by_age.begin(), by_age.end() - 1, by_age.end());
  by_age[0] = newest;
}

uint8_t quantise_low(int difference, int step) {
  const int size = magnitude(difference);
  size_t interval = 1;
  while (interval < kLowLevels.size() && size >= (kLowLevels[interval] * step) >> 12) ++interval;
  return difference < 0 ? kLowNegative[interval] : kLowPositive[interval];
}

uint8_t quantise_high(int difference, int step) {
  const bool large = magnitude(difference) >= (kHighLevel * step) >> 12;
  if (difference < 0) return large ? 0 : 1;
  return large ? 2 : 3;
}

/// Encoder and decoder both apply every code. The predictors use the coarse low-band value, so a network may
/// drop the two lowest bits.
void follow_low(G722Band& band, uint8_t code) {
  const size_t coarse = code >> 2;
  const int difference = (band.step() * kLowCoarse[coarse]) >> 15;
  band.adapt_step(kLowStepChange[coarse], kLowLogLimit, kLowOctaves);
  band.follow(difference);
}

void follow_high(G722Band& band, uint8_t code) {
  const int difference = (band.step() * kHighValues[code]) >> 15;
  band.adapt_step(kHighStepChange[code], kHighLogLimit, kHighOctaves);
  band.follow(difference);
}

struct Halves {
  int even = 0;
  int odd = 0;
};

/// Appends two samples to the history and filters its even and odd samples.
Halves filter(std::array<int, 24>& history, int first, int second) {
  std::copy(history.begin() + 2, history.end(), history.begin());
  history[22] = first;
  history[23] = second;
  Halves sums;
  for (size_t i = 0; i < kQmf.size(); ++i) {
    sums.odd += history[2 * i] * kQmf[i];
    sums.even += history[2 * i + 1] * kQmf[kQmf.size() - 1 - i];
  }
  return sums;
}

}  // namespace

void G722Band::adapt_step(int log_change, int log_limit, int octaves) {
  log_step_ = std::clamp(((log_step_ * 127) >> 7) + log_change, 0, log_limit);
  const int power = kPowers[static_cast<size_t>((log_step_ >> 6) & 31)];
  const int shift = octaves - (log_step_ >> 11);
  step_ = (shift < 0 ? power << -shift : power >> shift) << 2;
}

void G722Band::adapt_poles(int partial) {
  const int now = sign(partial);
  const int first = saturate16(poles_[0] * 4);
  const int wanted = std::min(now == sign(partial_[0]) ? -first : first, 32767);
  int second = (wanted >> 7) + (now == sign(partial_[1]) ? 128 : -128);
  second = std::clamp(second + ((poles_[1] * 32512) >> 15), -12288, 12288);
  const int limit = saturate16(15360 - second);
  const int step = now == sign(partial_[0]) ? 192 : -192;
  poles_[0] = std::clamp(saturate16(step + ((poles_[0] * 32640) >> 15)), -limit, limit);
  poles_[1] = second;
}

void G722Band::adapt_zeros(int difference) {
  const int change = difference == 0 ? 0 : 128;
  for (size_t i = 0; i < zeros_.size(); ++i) {
    const int towards = sign(differences_[i]) == sign(difference) ? change : -change;
    zeros_[i] = saturate16(towards + ((zeros_[i] * 32640) >> 15));
  }
}

void G722Band::predict() {
  int by_poles = 0;
  for (size_t i = 0; i < poles_.size(); ++i) {
    by_poles += (poles_[i] * saturate16(2 * reconstructed_[i])) >> 15;
  }
  int by_zeros = 0;
  for (size_t i = 0; i < zeros_.size(); ++i) by_zeros += (zeros_[i] * saturate16(2 * differences_[i])) >> 15;
  predicted_by_zeros_ = saturate16(by_zeros);
  predicted_ = saturate16(saturate16(by_poles) + predicted_by_zeros_);
}

void G722Band::follow(int difference) {
  const int reconstructed = saturate16(predicted_ + difference);
  const int partial = saturate16(predicted_by_zeros_ + difference);
  adapt_poles(partial);
  adapt_zeros(difference);
  push(differences_, difference);
  push(reconstructed_, reconstructed);
  push(partial_, partial);
  predict();
}

void G722BitEncoder::encode(std::span<const int16_t> in, std::span<uint8_t> out) {
  const size_t count = std::min(in.size() / 2, out.size());
  for (size_t i = 0; i < count; ++i) {
    const Halves sums = filter(history_, in[2 * i], in[2 * i + 1]);
    // Shift by 12 for the filter gain, by 1 for the two halves and by 1 for the 15-bit bands.
    const int low = (sums.even + sums.odd) >> 14;
    const int high = (sums.even - sums.odd) >> 14;
    const uint8_t low_code = quantise_low(saturate16(low - bands_.low.predicted()), bands_.low.step());
    const uint8_t high_code = quantise_high(saturate16(high - bands_.high.predicted()), bands_.high.step());
    follow_low(bands_.low, low_code);
    follow_high(bands_.high, high_code);
    out[i] = static_cast<uint8_t>((high_code << 6) | low_code);
  }
}

void G722BitDecoder::decode(std::span<const uint8_t> in, std::span<int16_t> out) {
  const size_t count = std::min(in.size(), out.size() / 2);
  for (size_t i = 0; i < count; ++i) {
    const auto low_code = static_cast<uint8_t>(in[i] & kLowCodes);
    const auto high_code = static_cast<uint8_t>(in[i] >> 6);
    const int low = saturate15(bands_.low.predicted() + ((bands_.low.step() * kLowFine[low_code]) >> 15));
    const int high =
        saturate15(bands_.high.predicted() + ((bands_.high.step() * kHighValues[high_code]) >> 15));
    follow_low(bands_.low, low_code);
    follow_high(bands_.high, high_code);
    const Halves sums = filter(history_, low + high, low - high);
    out[2 * i] = static_cast<int16_t>(saturate16(sums.even >> 11));
    out[2 * i + 1] = static_cast<int16_t>(saturate16(sums.odd >> 11));
  }
}

}  // namespace carillon
