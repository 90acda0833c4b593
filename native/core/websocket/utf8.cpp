#include "core/websocket/utf8.hpp"

#include <cstring>

namespace carillon {

namespace {

/// Sequence length for a lead byte, and the valid range of the second byte. Length 0: invalid lead byte.
struct Sequence {
  size_t length;
  uint8_t low;
  uint8_t high;
};

/// Excludes overlong forms, surrogates and values above U+10FFFF (RFC 3629 §4).
Sequence sequence_of(uint8_t lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead >= 0xc2 && lead <= 0xdf) return {2, 0x80, 0xbf};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead >= 0xe1 && lead <= 0xef) return {3, 0x80, 0xbf};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead >= 0xf1 && lead <= 0xf3) return {4, 0x80, 0xbf};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

/// Skips ASCII, eight bytes at a time. Base64 audio in JSON is almost entirely ASCII.
size_t skip_ascii(Bytes text, size_t at) {
  constexpr uint64_t kHighBits = 0x8080'8080'8080'8080U;
  for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & kHighBits) != 0) break;
  }
  while (at < text.size() && text[at] < 0x80) ++at;
  return at;
}

}  // namespace

bool is_utf8(Bytes text) {
  for (size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const Sequence sequence = sequence_of(text[at]);
    if (sequence.length == 0 || at + sequence.length > text.size()) return false;
    for (size_t i = 1; i < sequence.length; ++i) {
      const uint8_t low = i == 1 ? sequence.low : uint8_t{0x80};
      const uint8_t high = i == 1 ? sequence.high : uint8_t{0xbf};
      if (text[at + i] < low || text[at + i] > high) return false;
    }
    at += sequence.length;
  }
  return true;
}

}  // namespace carillon
