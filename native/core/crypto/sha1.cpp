#include "core/crypto/sha1.hpp"

#ifdef CARILLON_X86_CRYPTO

#include <immintrin.h>

#include <cstring>

#include "core/base/require.hpp"
#include "core/crypto/wipe.hpp"

#define SHA_NI CARILLON_USES("sha,sse4.1")

namespace carillon {

namespace {

using State = PacketHmac::State;
constexpr size_t kBlock = PacketHmac::kBlockBytes;
constexpr State kBegin{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

/// The five hash words in the layout of the instructions: a to d from the highest element down, e in the
/// highest.
struct Words {
  __m128i abcd;
  __m128i e;
};

/// State of the rounds: the last four groups of the message schedule, and the value from which the next e is
/// derived.
struct Rounds {
  __m128i abcd;
  __m128i before;
  __m128i schedule[4];
};

/// Performs twenty rounds with one function. `first`: index of the first group of four rounds.
template <int function>
SHA_NI inline void twenty(Rounds& r, size_t first) {
#pragma GCC unroll 5
  for (size_t i = first; i < first + 5; ++i) {
    __m128i& words = r.schedule[i % 4];
    if (i >= 4) {
      const __m128i mixed =
          _mm_xor_si128(_mm_sha1msg1_epu32(words, r.schedule[(i + 1) % 4]), r.schedule[(i + 2) % 4]);
      words = _mm_sha1msg2_epu32(mixed, r.schedule[(i + 3) % 4]);
    }
    const __m128i with_e = i == 0 ? _mm_add_epi32(r.before, words) : _mm_sha1nexte_epu32(r.before, words);
    r.before = r.abcd;
    r.abcd = _mm_sha1rnds4_epu32(r.abcd, with_e, function);
  }
}

SHA_NI void hash_blocks(Words& words, const uint8_t* from, size_t blocks) {
  const __m128i backwards = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
  for (; blocks > 0; --blocks, from += kBlock) {
    Rounds r{.abcd = words.abcd, .before = words.e, .schedule = {}};
    for (size_t i = 0; i < 4; ++i) {
      const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
      r.schedule[i] = _mm_shuffle_epi8(four, backwards);
    }
    twenty<0>(r, 0);
    twenty<1>(r, 5);
    twenty<2>(r, 10);
    twenty<3>(r, 15);
    words.e = _mm_sha1nexte_epu32(r.before, words.e);
    words.abcd = _mm_add_epi32(r.abcd, words.abcd);
  }
}

SHA_NI inline Words words_of(const State& state) {
  const auto word = [&state](size_t i) { return static_cast<int>(state[i]); };
  return {_mm_set_epi32(word(0), word(1), word(2), word(3)), _mm_set_epi32(word(4), 0, 0, 0)};
}

SHA_NI inline State state_of(const Words& words) {
  const auto word = [](int value) { return static_cast<uint32_t>(value); };
  return {word(_mm_extract_epi32(words.abcd, 3)), word(_mm_extract_epi32(words.abcd, 2)),
          word(_mm_extract_epi32(words.abcd, 1)), word(_mm_extract_epi32(words.abcd, 0)),
          word(_mm_extract_epi32(words.e, 3))};
}

void write_state(const State& state, uint8_t* to) {
  for (size_t i = 0; i < state.size(); ++i) {
    const uint32_t big_endian = __builtin_bswap32(state[i]);
    std::memcpy(to + 4 * i, &big_endian, sizeof(big_endian));
  }
}

/// Writes the padding (FIPS 180-4 §5.1.1). `bytes`: message length including the key block.
void write_end(uint8_t* blocks, size_t at, size_t end, size_t bytes) {
  constexpr size_t kLengthBytes = 4;  // of eight: sufficient for any packet
  blocks[at] = 0x80;
  std::memset(blocks + at + 1, 0, end - at - 1);
  write_u32({blocks, end}, end - kLengthBytes, static_cast<uint32_t>(8 * (kBlock + bytes)));
}

State begun(Bytes key, uint8_t pad) {
  require(key.size() <= kBlock, "an HMAC key has at most 64 bytes");
  uint8_t block[kBlock];
  std::memset(block, pad, kBlock);
  for (size_t i = 0; i < key.size(); ++i) block[i] ^= key[i];
  Words words = words_of(kBegin);
  hash_blocks(words, block, 1);
  wipe(block, kBlock);
  return state_of(words);
}

}  // namespace

PacketHmac::PacketHmac(Bytes key) : inner_(begun(key, 0x36)), outer_(begun(key, 0x5c)) {}

PacketHmac::~PacketHmac() { wipe(this, sizeof(*this)); }

PacketHmac::Digest PacketHmac::of(Bytes text, Bytes more) const {
  constexpr size_t kEndBytes = 9;
  Words words = words_of(inner_);
  const size_t whole = text.size() / kBlock;
  hash_blocks(words, text.data(), whole);

  require(more.size() <= kMaxMore, "an HMAC has at most 8 additional bytes");
  uint8_t tail[2 * kBlock];
  const Bytes rest = text.subspan(whole * kBlock);
  size_t at = rest.size();
  if (!rest.empty()) std::memcpy(tail, rest.data(), rest.size());
  if (!more.empty()) std::memcpy(tail + at, more.data(), more.size());
  at += more.size();
  const size_t blocks = at + kEndBytes > kBlock ? 2 : 1;
  write_end(tail, at, blocks * kBlock, text.size() + more.size());
  hash_blocks(words, tail, blocks);

  write_state(state_of(words), tail);
  write_end(tail, kDigestBytes, kBlock, kDigestBytes);
  words = words_of(outer_);
  hash_blocks(words, tail, 1);
  Digest digest;
  write_state(state_of(words), digest.data());
  return digest;
}

}  // namespace carillon

#endif
