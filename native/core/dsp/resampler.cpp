#include "core/dsp/resampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace carillon {
namespace {

// Stop band attenuation about 84 dB: beta = 0.1102 * (A - 8.7) (Kaiser 1974).
constexpr double kKaiserBeta = 8.3;
constexpr double kSpanSeconds = 0.004;
// Distance of the transition centre below half the lower rate, in periods of the window. At 8 kHz the
// response is flat to 3.1 kHz, -6 dB at 3.76 kHz and stopped from 4.4 kHz. Aliases thus stay above the
// telephone band. It is flat to 7.1 kHz at 16 kHz, and to 11.1 kHz at 24 kHz.
constexpr double kBelowHalf = 0.96;
// Samples processed per step: 20 ms at 48 kHz.
constexpr size_t kChunk = kMaxFrameSamples;
// Independent partial sums let the compiler vectorize without reordering a single sum.
constexpr size_t kLanes = 8;

// Modified Bessel function of the first kind, order zero, by its power series.
double bessel_i0(double x) {
  const double quarter = x * x / 4.0;
  double sum = 1.0;
  double term = 1.0;
  for (int k = 1; term > sum * 1e-12; ++k) {
    term *= quarter / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

double sinc(double x) {
  if (std::abs(x) < 1e-9) return 1.0;
  return std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

inline Sample to_sample(float value) {
  const float limited = std::clamp(value, -32768.0F, 32767.0F);
#if defined(__x86_64__)
  // The same as lrintf, which compilers call as a function.
  return static_cast<Sample>(_mm_cvtss_si32(_mm_set_ss(limited)));
#else
  return static_cast<Sample>(std::lrintf(limited));
#endif
}

size_t round_up(double value, size_t multiple) {
  const auto whole = static_cast<size_t>(std::ceil(value));
  return (whole + multiple - 1) / multiple * multiple;
}

/// Unaligned vector of kLanes floats.
using FilterLanes [[gnu::vector_size(kLanes * sizeof(float)), gnu::aligned(alignof(float)), gnu::may_alias]] =
    float;

/// Converts one chunk. `skip` and `phase`: position of the next output, updated.
struct Conversion {
  const float* window;
  const float* coefficients;
  size_t taps;
  size_t up;
  size_t down;
  size_t samples;
  std::span<Sample> out;
  size_t written;
  size_t phase;
  size_t skip;
};

[[gnu::always_inline]] inline void convert_chunk(Conversion& of) noexcept {
  const auto [window, coefficients, taps, up, down, samples, out, from, first_phase, first_skip] = of;
  size_t written = from;
  size_t phase = first_phase;
  size_t skip = first_skip;
  while (skip < samples) {
    const float* const oldest = window + skip;
    const float* const weights = coefficients + phase * taps;
    FilterLanes sums{};
    for (size_t k = 0; k < taps; k += kLanes) {
      sums += *reinterpret_cast<const FilterLanes*>(oldest + k) *
              *reinterpret_cast<const FilterLanes*>(weights + k);
    }
    const auto four =
        __builtin_shufflevector(sums, sums, 0, 1, 2, 3) + __builtin_shufflevector(sums, sums, 4, 5, 6, 7);
    const auto two = four + __builtin_shufflevector(four, four, 2, 3, 0, 1);
    if (written < out.size()) out[written++] = to_sample(two[0] + two[1]);
    for (phase += down; phase >= up; phase -= up) ++skip;
  }
  of.written = written;
  of.phase = phase;
  of.skip = skip;
}

// Fixed-point filters: 1 is 1 << kFixedBits. Sums fit 32 bits if the magnitudes of the coefficients of a
// phase add up to less than 1.95.
constexpr int kFixedBits = 15;
constexpr int32_t kMostMagnitudes = (1 << kFixedBits) / 20 * 39;
// Input samples per step of a conversion in fixed point.
constexpr size_t kFixedStep = 16;

Sample fixed_to_sample(int32_t sum) { return saturate((sum + (1 << (kFixedBits - 1))) >> kFixedBits); }

/// Doubles the rate of `samples` inputs. `weights`: two phases, whose outputs alternate.
void double_rate(const Sample* window, size_t samples, const int16_t* weights, size_t taps, Sample* out) {
  for (size_t i = 0; i < samples; ++i) {
    for (size_t phase = 0; phase < 2; ++phase) {
      int32_t sum = 0;
      for (size_t k = 0; k < taps; ++k) sum += int32_t{window[i + k]} * int32_t{weights[phase * taps + k]};
      *out++ = fixed_to_sample(sum);
    }
  }
}

#if defined(__x86_64__)
// The results are identical.
const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
__attribute__((target("avx2"))) void convert_wide(Conversion& of) noexcept { convert_chunk(of); }

/// Rounds and saturates the sums of two phases. The outputs of an input are side by side.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i alternate(__m256i first, __m256i second) {
  const __m256i packed =
      _mm256_packs_epi32(_mm256_srai_epi32(first, kFixedBits), _mm256_srai_epi32(second, kFixedBits));
  return _mm256_unpacklo_epi16(packed, _mm256_srli_si256(packed, 8));
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load(const Sample* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

/// Returns two coefficients in all lanes.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i pair_of(const int16_t* weights) {
  int32_t pair = 0;
  std::memcpy(&pair, weights, sizeof(pair));
  return _mm256_set1_epi32(pair);
}

/// As double_rate(), for a multiple of kFixedStep inputs. Each lane sums up one output. The results are
/// identical.
[[gnu::target("avx2")]] void double_rate_wide(const Sample* window, size_t samples, const int16_t* weights,
                                              size_t taps, Sample* out) {
  const __m256i half = _mm256_set1_epi32(1 << (kFixedBits - 1));
  for (size_t at = 0; at < samples; at += kFixedStep) {
    // Inputs 0, 2, 4 ... and 1, 3, 5 ... with each phase.
    __m256i even_first = half;
    __m256i even_second = half;
    __m256i odd_first = half;
    __m256i odd_second = half;
    const Sample* const oldest = window + at;
#pragma GCC unroll 4
    for (size_t k = 0; k < taps; k += 2) {
      const __m256i first = pair_of(weights + k);
      const __m256i second = pair_of(weights + taps + k);
      even_first = _mm256_add_epi32(even_first, _mm256_madd_epi16(load(oldest + k), first));
      even_second = _mm256_add_epi32(even_second, _mm256_madd_epi16(load(oldest + k), second));
      odd_first = _mm256_add_epi32(odd_first, _mm256_madd_epi16(load(oldest + k + 1), first));
      odd_second = _mm256_add_epi32(odd_second, _mm256_madd_epi16(load(oldest + k + 1), second));
    }
    const __m256i even = alternate(even_first, even_second);
    const __m256i odd = alternate(odd_first, odd_second);
    const __m256i low = _mm256_unpacklo_epi32(even, odd);
    const __m256i high = _mm256_unpackhi_epi32(even, odd);
    auto* const to = reinterpret_cast<__m256i*>(out + 2 * at);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
  }
}
#else
constexpr bool has_avx2 = false;
void convert_wide(Conversion& of) noexcept { convert_chunk(of); }
void double_rate_wide(const Sample*, size_t, const int16_t*, size_t, Sample*) {}
#endif

using LineFilters =
    std::array<std::array<std::unique_ptr<ResamplerFilter>, kLineRates.size()>, kLineRates.size()>;

LineFilters make_line_filters() {
  LineFilters filters;
  for (size_t from = 0; from < kLineRates.size(); ++from) {
    for (size_t to = 0; to < kLineRates.size(); ++to) {
      if (from == to) continue;
      filters[from][to] = std::make_unique<ResamplerFilter>(kLineRates[from].hz(), kLineRates[to].hz());
    }
  }
  return filters;
}

size_t line_rate_index(SampleRate rate) {
  return static_cast<size_t>(std::ranges::find(kLineRates, rate) - kLineRates.begin()) % kLineRates.size();
}

}  // namespace

ResamplerFilter::ResamplerFilter(int input_rate_hz, int output_rate_hz)
    : input_rate_hz_(input_rate_hz), output_rate_hz_(output_rate_hz) {
  const int common = std::gcd(input_rate_hz, output_rate_hz);
  up_ = static_cast<size_t>(output_rate_hz / common);
  down_ = static_cast<size_t>(input_rate_hz / common);
  taps_per_phase_ = up_ == down_ ? 1 : std::min(round_up(kSpanSeconds * input_rate_hz, kLanes), kMaxTaps);
  coefficients_.resize(up_ * taps_per_phase_);
  design();
  if (up_ == 2 && down_ == 1) quantize();
  const double delay_s =
      (static_cast<double>(up_ * taps_per_phase_) - 1.0) / 2.0 / (static_cast<double>(up_) * input_rate_hz);
  delay_samples_ = static_cast<size_t>(std::lround(delay_s * output_rate_hz));
}

void ResamplerFilter::design() {
  if (up_ == down_) {
    coefficients_[0] = 1.0F;
    return;
  }
  const size_t length = up_ * taps_per_phase_;
  const double centre = (static_cast<double>(length) - 1.0) / 2.0;
  const double lower_rate = std::min(input_rate_hz_, output_rate_hz_);
  const double cutoff_hz = 0.5 * lower_rate - kBelowHalf / kSpanSeconds;
  // Cutoff relative to the prototype's rate, which is up_ times the input rate.
  const double cutoff = cutoff_hz / (static_cast<double>(up_) * input_rate_hz_);
  const double window_scale = bessel_i0(kKaiserBeta);
  for (size_t phase = 0; phase < up_; ++phase) {
    double sum = 0.0;
    std::vector<double> taps(taps_per_phase_);
    for (size_t k = 0; k < taps_per_phase_; ++k) {
      const double t = static_cast<double>(phase + k * up_) - centre;
      const double edge = t / (centre + 0.5);
      const double window = bessel_i0(kKaiserBeta * std::sqrt(1.0 - edge * edge)) / window_scale;
      taps[k] = sinc(2.0 * cutoff * t) * window;
      sum += taps[k];
    }
    // Normalize each phase to unity gain at 0 Hz, so that a constant stays constant.
    for (size_t k = 0; k < taps_per_phase_; ++k) {
      const size_t oldest_first = taps_per_phase_ - 1 - k;
      coefficients_[phase * taps_per_phase_ + oldest_first] = static_cast<float>(taps[k] / sum);
    }
  }
}

/// Rounds the coefficients to fixed point, unless sums could overflow. Each phase keeps unity gain at 0 Hz.
void ResamplerFilter::quantize() {
  std::vector<int16_t> fixed(coefficients_.size());
  for (size_t phase = 0; phase < up_; ++phase) {
    const auto exact = std::span(coefficients_).subspan(phase * taps_per_phase_, taps_per_phase_);
    const auto rounded = std::span(fixed).subspan(phase * taps_per_phase_, taps_per_phase_);
    int32_t error = 1 << kFixedBits;
    int32_t magnitudes = 0;
    for (size_t k = 0; k < taps_per_phase_; ++k) {
      rounded[k] = static_cast<int16_t>(std::lrintf(exact[k] * (1 << kFixedBits)));
      error -= rounded[k];
      magnitudes += std::abs(rounded[k]);
    }
    if (magnitudes >= kMostMagnitudes) return;
    int16_t& largest = *std::ranges::max_element(rounded);
    largest = static_cast<int16_t>(largest + error);
  }
  fixed_ = std::move(fixed);
}

size_t ResamplerFilter::max_output(size_t input_samples) const noexcept {
  return (input_samples * up_ + down_ - 1) / down_ + 1;
}

const ResamplerFilter* line_filter(SampleRate from, SampleRate to) {
  static const LineFilters filters = make_line_filters();
  return filters[line_rate_index(from)][line_rate_index(to)].get();
}

size_t Resampler::process(std::span<const Sample> in, std::span<Sample> out) noexcept {
  const ResamplerFilter& filter = *filter_;
  const size_t taps = filter.taps_per_phase_;
  if (taps == 1) {  // equal rates
    const size_t count = std::min(in.size(), out.size());
    std::copy_n(in.begin(), count, out.begin());
    return count;
  }
  if (!filter.fixed_.empty()) return double_rate_of(in, out);
  const size_t past = taps - 1;
  const auto recent = std::span(past_).last(past);
  std::array<float, ResamplerFilter::kMaxTaps - 1 + kChunk> window;
  size_t written = 0;
  while (!in.empty()) {
    const auto chunk = in.first(std::min(in.size(), kChunk));
    in = in.subspan(chunk.size());
    for (size_t i = 0; i < past; ++i) window[i] = recent[i];
    for (size_t i = 0; i < chunk.size(); ++i) window[past + i] = chunk[i];
    Conversion conversion{.window = window.data(),
                          .coefficients = filter.coefficients_.data(),
                          .taps = taps,
                          .up = filter.up_,
                          .down = filter.down_,
                          .samples = chunk.size(),
                          .out = out,
                          .written = written,
                          .phase = phase_,
                          .skip = skip_};
    if (has_avx2) {
      convert_wide(conversion);
    } else {
      convert_chunk(conversion);
    }
    written = conversion.written;
    phase_ = conversion.phase;
    skip_ = conversion.skip - chunk.size();
    keep_past(chunk);
  }
  return written;
}

/// Converts to twice the input rate, in fixed point.
size_t Resampler::double_rate_of(std::span<const Sample> in, std::span<Sample> out) noexcept {
  const size_t taps = filter_->taps_per_phase_;
  const size_t past = taps - 1;
  const int16_t* const weights = filter_->fixed_.data();
  std::array<Sample, ResamplerFilter::kMaxTaps + kChunk> window;
  size_t written = 0;
  in = in.first(std::min(in.size(), out.size() / 2));
  while (!in.empty()) {
    const auto chunk = in.first(std::min(in.size(), kChunk));
    in = in.subspan(chunk.size());
    std::copy_n(past_.end() - static_cast<std::ptrdiff_t>(past), past, window.begin());
    std::ranges::copy(chunk, window.begin() + static_cast<std::ptrdiff_t>(past));
    const size_t wide = has_avx2 ? chunk.size() / kFixedStep * kFixedStep : 0;
    Sample* const to = out.data() + written;
    double_rate_wide(window.data(), wide, weights, taps, to);
    double_rate(window.data() + wide, chunk.size() - wide, weights, taps, to + 2 * wide);
    written += 2 * chunk.size();
    keep_past(chunk);
  }
  return written;
}

/// Keeps the newest samples of the history and the chunk.
void Resampler::keep_past(std::span<const Sample> chunk) noexcept {
  const size_t past = filter_->taps_per_phase_ - 1;
  const auto recent = std::span(past_).last(past);
  const size_t kept = past - std::min(past, chunk.size());
  std::copy(recent.end() - static_cast<std::ptrdiff_t>(kept), recent.end(), recent.begin());
  std::copy(chunk.end() - static_cast<std::ptrdiff_t>(past - kept), chunk.end(),
            recent.begin() + static_cast<std::ptrdiff_t>(kept));
}

void Resampler::reset() noexcept {
  past_.fill(0);
  phase_ = 0;
  skip_ = 0;
}

AudioView FrameConverter::convert(AudioView in, SampleRate rate, Frame& scratch) noexcept {
  if (in.rate == rate) {
    resampler_.reset();
    return in;
  }
  const ResamplerFilter* const filter = line_filter(in.rate, rate);
  if (!resampler_ || &resampler_->filter() != filter) resampler_.emplace(*filter);
  scratch.set_rate(rate);
  return {rate, scratch.samples().first(resampler_->process(in.samples, scratch.samples()))};
}

std::vector<Sample> resample_whole(std::span<const Sample> in, int input_rate_hz, int output_rate_hz) {
  const ResamplerFilter filter(input_rate_hz, output_rate_hz);
  Resampler resampler(filter);
  const auto length =
      static_cast<size_t>(static_cast<uint64_t>(in.size()) * static_cast<uint64_t>(output_rate_hz) /
                          static_cast<uint64_t>(input_rate_hz));
  const size_t delay = filter.delay_samples();
  // Silence after the end flushes the last samples out of the filter.
  const auto up_to_input = [&](size_t samples) {
    return samples * static_cast<size_t>(input_rate_hz) / static_cast<size_t>(output_rate_hz) + 1;
  };
  const std::vector<Sample> tail(up_to_input(delay + 1));
  std::vector<Sample> out(filter.max_output(in.size()) + filter.max_output(tail.size()));
  size_t written = resampler.process(in, out);
  written += resampler.process(tail, std::span(out).subspan(written));
  out.resize(std::min(written, delay + length));
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::min(delay, out.size())));
  return out;
}

}  // namespace carillon
