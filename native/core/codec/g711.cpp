#include "core/codec/g711.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace carillon {
namespace {

// Significant bits of a sample: what lies below never changes the code word, so the encoding
// tables are indexed by the sample without it and stay small enough for the cache.
constexpr int kMuDroppedBits = 2;
constexpr int kADroppedBits = 4;
constexpr std::size_t kMuEncodeSize = 1U << (16 - kMuDroppedBits);
constexpr std::size_t kAEncodeSize = 1U << (16 - kADroppedBits);

constexpr int kMuBias = 33;
constexpr int kMuClip = 0x1fff;

// `value` is the sample shifted right arithmetically by kMuDroppedBits.
constexpr std::uint8_t mu_compress(int value) {
  const bool negative = value < 0;
  const int biased = std::min((negative ? ~value : value) + kMuBias, kMuClip);
  int segment = 1;
  for (int rest = biased >> 6; rest != 0; rest >>= 1) segment += 1;
  const int high = 8 - segment;
  const int low = 0xf - ((biased >> segment) & 0xf);
  return static_cast<std::uint8_t>((high << 4) | low | (negative ? 0 : 0x80));
}

constexpr std::int16_t mu_expand(int code) {
  const int inverted = ~code & 0xff;
  const int exponent = (inverted >> 4) & 0x7;
  const int mantissa = inverted & 0xf;
  const int step = 8 << exponent;
  const int magnitude = (0x80 << exponent) + step * mantissa + step / 2 - 4 * kMuBias;
  return static_cast<std::int16_t>(code < 0x80 ? -magnitude : magnitude);
}

// `value` is the sample shifted right arithmetically by kADroppedBits.
constexpr std::uint8_t a_compress(int value) {
  const bool negative = value < 0;
  int magnitude = negative ? ~value : value;
  if (magnitude > 15) {
    int exponent = 1;
    while (magnitude > 31) {
      magnitude >>= 1;
      exponent += 1;
    }
    magnitude += (exponent << 4) - 16;
  }
  return static_cast<std::uint8_t>((magnitude | (negative ? 0 : 0x80)) ^ 0x55);
}

constexpr std::int16_t a_expand(int code) {
  const int plain = code ^ 0x55;
  const int exponent = (plain >> 4) & 0x7;
  int magnitude = ((plain & 0xf) << 4) + 8;
  if (exponent > 0) magnitude += 0x100;
  if (exponent > 1) magnitude <<= exponent - 1;
  return static_cast<std::int16_t>(code < 0x80 ? -magnitude : magnitude);
}

template <typename Value, std::size_t Size, typename Rule>
constexpr std::array<Value, Size> tabulate(Rule rule) {
  std::array<Value, Size> table{};
  for (std::size_t i = 0; i < Size; ++i) table[i] = rule(static_cast<int>(i));
  return table;
}

// The index is the two's complement pattern; this restores its sign.
template <std::size_t Size>
constexpr int signed_value(int pattern) {
  constexpr int size = static_cast<int>(Size);
  return pattern < size / 2 ? pattern : pattern - size;
}

constexpr auto kMuEncode =
    tabulate<std::uint8_t, kMuEncodeSize>([](int i) { return mu_compress(signed_value<kMuEncodeSize>(i)); });
constexpr auto kAEncode =
    tabulate<std::uint8_t, kAEncodeSize>([](int i) { return a_compress(signed_value<kAEncodeSize>(i)); });
constexpr auto kMuDecode = tabulate<std::int16_t, 256>(mu_expand);
constexpr auto kADecode = tabulate<std::int16_t, 256>(a_expand);

inline std::uint8_t mu_encode(std::int16_t sample) {
  return kMuEncode[static_cast<std::uint16_t>(sample) >> kMuDroppedBits];
}

inline std::uint8_t a_encode(std::int16_t sample) {
  return kAEncode[static_cast<std::uint16_t>(sample) >> kADroppedBits];
}

}  // namespace

std::uint8_t g711_encode(G711Law law, std::int16_t sample) noexcept {
  return law == G711Law::mu ? mu_encode(sample) : a_encode(sample);
}

std::int16_t g711_decode(G711Law law, std::uint8_t code) noexcept {
  return law == G711Law::mu ? kMuDecode[code] : kADecode[code];
}

void g711_encode(G711Law law, std::span<const std::int16_t> in, std::span<std::uint8_t> out) noexcept {
  const auto count = std::min(in.size(), out.size());
  const auto source = in.first(count);
  if (law == G711Law::mu) {
    std::transform(source.begin(), source.end(), out.begin(), mu_encode);
  } else {
    std::transform(source.begin(), source.end(), out.begin(), a_encode);
  }
}

void g711_decode(G711Law law, std::span<const std::uint8_t> in, std::span<std::int16_t> out) noexcept {
  const auto count = std::min(in.size(), out.size());
  const auto& table = law == G711Law::mu ? kMuDecode : kADecode;
  const auto source = in.first(count);
  std::transform(source.begin(), source.end(), out.begin(),
                 [&table](std::uint8_t code) { return table[code]; });
}

}  // namespace carillon
