#include "core/base/base64.hpp"

#include <array>

namespace carillon {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kInvalid = 0xff;

constexpr std::array<uint8_t, 256> kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kInvalid);
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  }
  return values;
}();

/// Two characters for each 12-bit value: halves the encoder's table lookups.
constexpr std::array<std::array<uint8_t, 2>, 4096> kPairs = [] {
  std::array<std::array<uint8_t, 2>, 4096> pairs{};
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = {static_cast<uint8_t>(kAlphabet[i >> 6]), static_cast<uint8_t>(kAlphabet[i & 63])};
  }
  return pairs;
}();

uint8_t value_of(char character) { return kValues[static_cast<uint8_t>(character)]; }

}  // namespace

void base64_encode(Bytes bytes, std::span<uint8_t> out) {
  size_t at = 0;
  size_t i = 0;
  const auto put = [&](uint32_t twelve_bits) {
    out[at++] = kPairs[twelve_bits][0];
    out[at++] = kPairs[twelve_bits][1];
  };
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t group = (uint32_t{bytes[i]} << 16) | (uint32_t{bytes[i + 1]} << 8) | bytes[i + 2];
    put(group >> 12);
    put(group & 0xfff);
  }
  const size_t rest = bytes.size() - i;
  if (rest == 0) return;
  uint32_t group = uint32_t{bytes[i]} << 16;
  if (rest == 2) group |= uint32_t{bytes[i + 1]} << 8;
  put(group >> 12);
  put(group & 0xfff);
  out[at - 1] = '=';
  if (rest == 1) out[at - 2] = '=';
}

std::optional<size_t> base64_decode(std::string_view text, std::span<uint8_t> out) {
  if (text.size() % 4 == 0 && text.ends_with('=')) text.remove_suffix(text.ends_with("==") ? 2 : 1);
  if (text.size() % 4 == 1) return std::nullopt;
  size_t written = 0;
  size_t i = 0;
  for (; i + 4 <= text.size(); i += 4) {
    const uint8_t a = value_of(text[i]);
    const uint8_t b = value_of(text[i + 1]);
    const uint8_t c = value_of(text[i + 2]);
    const uint8_t d = value_of(text[i + 3]);
    if (((a | b | c | d) & 0xc0) != 0) return std::nullopt;  // a valid value has six bits
    const uint32_t group = (uint32_t{a} << 18) | (uint32_t{b} << 12) | (uint32_t{c} << 6) | d;
    out[written++] = static_cast<uint8_t>(group >> 16);
    out[written++] = static_cast<uint8_t>(group >> 8);
    out[written++] = static_cast<uint8_t>(group);
  }
  const size_t rest = text.size() - i;
  if (rest == 0) return written;
  uint32_t group = 0;
  for (size_t k = 0; k < rest; ++k) {
    const uint8_t value = value_of(text[i + k]);
    if (value == kInvalid) return std::nullopt;
    group |= uint32_t{value} << (18 - 6 * k);
  }
  out[written++] = static_cast<uint8_t>(group >> 16);
  if (rest == 3) out[written++] = static_cast<uint8_t>(group >> 8);
  return written;
}

}  // namespace carillon
