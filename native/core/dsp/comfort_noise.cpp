#include "core/dsp/comfort_noise.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace carillon {

namespace {
constexpr double kOverload = 32768.0;
constexpr uint8_t kLevelBits = 0x7f;
/// Reserved index of a coefficient (RFC 3389 §3.2).
constexpr uint8_t kReserved = 255;
/// Larger coefficients would describe a tone. Its impulse response exceeds the filter by far.
constexpr double kMaxReflection = 0.995;
/// Share of the energy of the impulse response that may be omitted.
constexpr double kOmitted = 1e-4;
/// Lanes of the vectors.
constexpr size_t kNoiseLanes = 8;

using NoiseLanes [[gnu::vector_size(kNoiseLanes * sizeof(float))]] = float;
using RandomLanes [[gnu::vector_size(kNoiseLanes * sizeof(uint32_t))]] = uint32_t;
using SampleLanes [[gnu::vector_size(kNoiseLanes * sizeof(Sample))]] = Sample;
using IntegerLanes [[gnu::vector_size(kNoiseLanes * sizeof(int32_t))]] = int32_t;

/// Reads lanes from any address. clang assumes the alignment of a vector where a reference to it is used.
template <typename Lanes, typename Value>
[[gnu::always_inline]] inline void load(Lanes& lanes, const Value* from) noexcept {
  std::memcpy(&lanes, from, sizeof(lanes));
}

template <typename Lanes, typename Value>
[[gnu::always_inline]] inline void store(const Lanes& lanes, Value* to) noexcept {
  std::memcpy(to, &lanes, sizeof(lanes));
}

/// Writes white noise with a variance of 1. `count`: a multiple of the lanes.
[[gnu::always_inline]] inline void write_white(uint32_t* random, float* out, size_t count) noexcept {
  // Uniform 32-bit integers, scaled by sqrt(3) / 2^31.
  constexpr float kScale = 1.7320508F / 2147483648.0F;
  RandomLanes state;
  load(state, random);
  for (size_t i = 0; i < count; i += kNoiseLanes) {
    // The lowest bits of a linear congruential generator have short periods; they are the least significant.
    state = state * 1664525U + 1013904223U;
    store(__builtin_convertvector(reinterpret_cast<IntegerLanes>(state), NoiseLanes) * kScale, out + i);
  }
  store(state, random);
}

/// Filters white noise. `in` begins `taps` samples before the first output; `count` is a multiple of the
/// lanes.
[[gnu::always_inline]] inline void filter_noise(const float* in, const float* weights, size_t taps,
                                                float* out, size_t count) noexcept {
  // Four vectors at a time hide the latency of the additions.
  constexpr size_t kStep = 4 * kNoiseLanes;
  NoiseLanes lanes;
  size_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    NoiseLanes first{};
    NoiseLanes second{};
    NoiseLanes third{};
    NoiseLanes fourth{};
    for (size_t k = 0; k < taps; ++k) {
      const float* const from = in + i + k;
      load(lanes, from);
      first += lanes * weights[k];
      load(lanes, from + kNoiseLanes);
      second += lanes * weights[k];
      load(lanes, from + 2 * kNoiseLanes);
      third += lanes * weights[k];
      load(lanes, from + 3 * kNoiseLanes);
      fourth += lanes * weights[k];
    }
    store(first, out + i);
    store(second, out + i + kNoiseLanes);
    store(third, out + i + 2 * kNoiseLanes);
    store(fourth, out + i + 3 * kNoiseLanes);
  }
  for (; i < count; i += kNoiseLanes) {
    NoiseLanes sum{};
    for (size_t k = 0; k < taps; ++k) {
      load(lanes, in + i + k);
      sum += lanes * weights[k];
    }
    store(sum, out + i);
  }
}

/// One chunk: white noise behind `past`, and what filters make of it.
struct NoiseChunk {
  uint32_t* random;
  float* white;
  size_t past;
  const float* from;
  const float* to;
  size_t taps;
  float* before;
  float* after;
  /// Length of a whole change and its rest, in samples.
  size_t change;
  size_t change_left;
  std::span<Sample> out;
};

[[gnu::always_inline]] inline void make_noise(const NoiseChunk& of) noexcept {
  const size_t samples = of.out.size();
  const size_t count = (samples + kNoiseLanes - 1) / kNoiseLanes * kNoiseLanes;
  write_white(of.random, of.white + of.past, count);
  // The newest tap weights the sample itself.
  const float* const in = of.white + of.past + 1 - of.taps;
  filter_noise(in, of.to, of.taps, of.after, count);
  float* const noise = of.after;
  if (of.change_left > 0) {
    filter_noise(in, of.from, of.taps, of.before, count);
    const float step = 1.0F / static_cast<float>(of.change);
    NoiseLanes rest = static_cast<float>(of.change_left) - NoiseLanes{0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < count; i += kNoiseLanes) {
      NoiseLanes now;
      NoiseLanes before;
      load(now, noise + i);
      load(before, of.before + i);
      const NoiseLanes zero{};
      store(now + (before - now) * (rest > zero ? rest * step : zero), noise + i);
      rest -= static_cast<float>(kNoiseLanes);
    }
  }
  Sample* const out = of.out.data();
  size_t i = 0;
  for (; i + kNoiseLanes <= samples; i += kNoiseLanes) {
    SampleLanes audio;
    NoiseLanes added;
    load(audio, out + i);
    load(added, noise + i);
    const NoiseLanes sum =
        added + __builtin_convertvector(__builtin_convertvector(audio, IntegerLanes), NoiseLanes);
    const NoiseLanes low = NoiseLanes{} - 32768.0F;
    const NoiseLanes high = NoiseLanes{} + 32767.0F;
    const NoiseLanes bounded = sum < low ? low : sum > high ? high : sum;
    // Rounds to the nearest integer.
    const NoiseLanes half = bounded < NoiseLanes{} ? NoiseLanes{} - 0.5F : NoiseLanes{} + 0.5F;
    store(__builtin_convertvector(__builtin_convertvector(bounded + half, IntegerLanes), SampleLanes),
          out + i);
  }
  for (; i < samples; ++i) out[i] = saturate(out[i] + static_cast<int32_t>(std::lround(noise[i])));
}

#if defined(__x86_64__)
const bool noise_is_wide = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
__attribute__((target("avx2,fma"))) void make_noise_wide(const NoiseChunk& of) noexcept { make_noise(of); }
#else
constexpr bool noise_is_wide = false;
void make_noise_wide(const NoiseChunk& of) noexcept { make_noise(of); }
#endif

}  // namespace

ComfortNoise::ComfortNoise() noexcept {
  // Noises of several parties must not be equal, because their sum would be too loud.
  static std::atomic<uint32_t> seeds{0};
  for (uint32_t& lane : random_) {
    uint32_t mixed = seeds.fetch_add(0x9e3779b9U, std::memory_order_relaxed);
    mixed = (mixed ^ mixed >> 16U) * 0x85ebca6bU;
    mixed = (mixed ^ mixed >> 13U) * 0xc2b2ae35U;
    lane = mixed ^ mixed >> 16U;
  }
}

void ComfortNoise::change_to(const Taps& taps, size_t count) noexcept {
  if (change_left_ > 0) {
    const float done = 1.0F - static_cast<float>(change_left_) / static_cast<float>(kChange);
    for (size_t k = 0; k < kTaps; ++k) from_[k] += (to_[k] - from_[k]) * done;
  } else {
    from_ = to_;
  }
  to_ = taps;
  to_count_ = count;
  count_ = std::max(count_, count);
  change_left_ = kChange;
}

void ComfortNoise::add(Bytes sid, std::span<Sample> out) noexcept {
  sid = sid.first(std::min(sid.size(), kMaxPayload));
  if (sid.empty()) {
    fade_out(out);
    return;
  }
  if (!active_ || !std::ranges::equal(sid, std::span(sid_).first(sid_size_))) {
    active_ = true;
    sid_size_ = static_cast<uint8_t>(sid.size());
    std::ranges::copy(sid, sid_.begin());
    // Prediction coefficients of the model (step-up recursion).
    std::array<double, kMaxOrder> model{};
    const size_t order = sid.size() - 1;
    for (size_t m = 0; m < order; ++m) {
      const uint8_t index = sid[m + 1];
      const double k = index == kReserved ? 0 : 258.0 * (index - 127) / 32768.0;
      const double reflection = std::clamp(k, -kMaxReflection, kMaxReflection);
      const std::array<double, kMaxOrder> before = model;
      for (size_t i = 0; i < m; ++i) model[i] = before[i] + reflection * before[m - 1 - i];
      model[m] = reflection;
    }
    std::array<double, kTaps> response{};
    double energy = 0;
    for (size_t n = 0; n < kTaps; ++n) {
      double value = n == 0 ? 1 : 0;
      for (size_t i = 0; i < std::min(order, n); ++i) value -= model[i] * response[n - 1 - i];
      response[n] = value;
      energy += value * value;
    }
    size_t count = kTaps;
    for (double rest = 0; count > 1; --count) {
      rest += response[count - 1] * response[count - 1];
      if (rest > kOmitted * energy) break;
    }
    const double level = kOverload * std::pow(10.0, -(sid[0] & kLevelBits) / 20.0);
    Taps taps{};
    for (size_t n = 0; n < count; ++n) {
      taps[kTaps - 1 - n] = static_cast<float>(level * response[n] / std::sqrt(energy));
    }
    change_to(taps, count);
  }
  generate(out);
}

void ComfortNoise::fade_out(std::span<Sample> out) noexcept {
  if (!active_) return;
  if (sid_size_ > 0) {
    sid_size_ = 0;
    change_to({}, 1);
  }
  generate(out.first(std::min(out.size(), change_left_)));
  active_ = change_left_ > 0;
}

void ComfortNoise::generate(std::span<Sample> out) noexcept {
  while (!out.empty()) {
    const size_t samples = std::min(out.size(), kChunk);
    std::array<float, kTaps + kChunk> white;
    std::array<float, kChunk> before;
    std::array<float, kChunk> after;
    std::ranges::copy(past_, white.begin());
    const NoiseChunk chunk{
        random_.data(), white.data(), kTaps,   &from_[kTaps - count_], &to_[kTaps - count_], count_,
        before.data(),  after.data(), kChange, change_left_,           out.first(samples)};
    if (noise_is_wide) {
      make_noise_wide(chunk);
    } else {
      make_noise(chunk);
    }
    change_left_ -= std::min(change_left_, samples);
    if (change_left_ == 0) count_ = to_count_;
    std::copy_n(white.begin() + static_cast<std::ptrdiff_t>(samples), kTaps, past_.begin());
    out = out.subspan(samples);
  }
}

}  // namespace carillon
