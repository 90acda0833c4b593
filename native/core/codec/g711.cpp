#include "core/codec/g711.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace carillon {
namespace {

// Segments are powers of two. A code word is thus the exponent and first four mantissa bits of the magnitude
// as an IEEE 754 number. This needs no table and no branch, so the compiler can vectorize it.
constexpr int kMantissaBits = 23;
constexpr int kBits = 4;
constexpr int kShift = kMantissaBits - kBits;
constexpr int kExponentBias = 127;

constexpr int kMuBias = 33;
constexpr int kMuClip = 0x1fff;
/// Code of the smallest magnitude: 33 has its first bit at 2^5.
constexpr int kMuFirst = (kExponentBias + 5) << kBits;
/// Code of magnitude 16. The law is linear below it.
constexpr int kAFirst = ((kExponentBias + 4) << kBits) - 16;
constexpr int kALinear = 16;
/// Middle of the first segment: 2^7 plus half a step after the four mantissa bits.
constexpr std::uint32_t kMiddle = ((kExponentBias + 7U) << kMantissaBits) | (1U << (kShift - 1));

constexpr int exponent_and_bits(int magnitude) {
  return static_cast<int>(std::bit_cast<std::uint32_t>(static_cast<float>(magnitude)) >> kShift);
}
constexpr int middle_of(int code) {
  return static_cast<int>(std::bit_cast<float>(kMiddle + (static_cast<std::uint32_t>(code) << kShift)));
}
constexpr std::uint8_t sign_bit(int value) { return value < 0 ? 0 : 0x80; }
constexpr std::int16_t with_sign(std::uint8_t code, int magnitude) {
  return static_cast<std::int16_t>(code < 0x80 ? -magnitude : magnitude);
}

// The laws use 14 and 12 bits of a sample. The magnitude of a negative number is its one's complement.
constexpr std::uint8_t mu_encode(std::int16_t sample) {
  const int value = sample >> 2;
  const int biased = std::min((value < 0 ? ~value : value) + kMuBias, kMuClip);
  return static_cast<std::uint8_t>((0x7f - (exponent_and_bits(biased) - kMuFirst)) | sign_bit(value));
}

constexpr std::uint8_t a_encode(std::int16_t sample) {
  const int value = sample >> 4;
  const int magnitude = value < 0 ? ~value : value;
  const int code = std::max(std::min(magnitude, kALinear), exponent_and_bits(magnitude) - kAFirst);
  return static_cast<std::uint8_t>((code | sign_bit(value)) ^ 0x55);
}

constexpr std::int16_t mu_decode(std::uint8_t code) {
  return with_sign(code, middle_of(~code & 0x7f) - 4 * kMuBias);
}

constexpr std::int16_t a_decode(std::uint8_t code) {
  const int plain = (code ^ 0x55) & 0x7f;
  const int linear = (plain << 4) + 8;
  const int curved = middle_of(plain);
  const int is_linear = (plain - kALinear) >> 31;
  return with_sign(code, (linear & is_linear) | (curved & ~is_linear));
}

#if defined(__x86_64__)
// Processes twice as many samples per instruction if the processor supports AVX2. The results are identical.
const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;

template <typename From, typename To, typename Rule>
__attribute__((target("avx2"))) void transform_wide(std::span<const From> in, To* out, Rule rule) {
  for (const From value : in) *out++ = rule(value);
}
#else
constexpr bool has_avx2 = false;

template <typename From, typename To, typename Rule>
void transform_wide(std::span<const From>, To*, Rule) {}
#endif

template <typename From, typename To, typename Rule>
void transform(std::span<const From> in, std::span<To> out, Rule rule) {
  const auto source = in.first(std::min(in.size(), out.size()));
  if (has_avx2) {
    transform_wide(source, out.data(), rule);
  } else {
    std::transform(source.begin(), source.end(), out.begin(), rule);
  }
}

}  // namespace

std::uint8_t g711_encode(G711Law law, std::int16_t sample) noexcept {
  return law == G711Law::mu ? mu_encode(sample) : a_encode(sample);
}

std::int16_t g711_decode(G711Law law, std::uint8_t code) noexcept {
  return law == G711Law::mu ? mu_decode(code) : a_decode(code);
}

void g711_encode(G711Law law, std::span<const std::int16_t> in, std::span<std::uint8_t> out) noexcept {
  if (law == G711Law::mu) {
    transform(in, out, [](std::int16_t sample) { return mu_encode(sample); });
  } else {
    transform(in, out, [](std::int16_t sample) { return a_encode(sample); });
  }
}

void g711_decode(G711Law law, std::span<const std::uint8_t> in, std::span<std::int16_t> out) noexcept {
  if (law == G711Law::mu) {
    transform(in, out, [](std::uint8_t code) { return mu_decode(code); });
  } else {
    transform(in, out, [](std::uint8_t code) { return a_decode(code); });
  }
}

void g711_recode(G711Law from, std::span<const std::uint8_t> in, std::span<std::uint8_t> out) noexcept {
  if (from == G711Law::mu) {
    transform(in, out, [](std::uint8_t code) { return a_encode(mu_decode(code)); });
  } else {
    transform(in, out, [](std::uint8_t code) { return mu_encode(a_decode(code)); });
  }
}

}  // namespace carillon
