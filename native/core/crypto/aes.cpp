#include "core/crypto/aes.hpp"

#ifdef CARILLON_X86_CRYPTO

#include <immintrin.h>

#include <cstring>

#include "core/base/require.hpp"
#include "core/crypto/wipe.hpp"

#define AES_NI CARILLON_USES("aes,sse4.1")

namespace carillon {

namespace {

/// Blocks encrypted in parallel: enough to saturate the processor's AES unit, and the size of 20 ms of G.711.
constexpr size_t kAtOnce = 10;
constexpr size_t kCountAt = 12;

AES_NI inline __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
AES_NI inline void store(void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(to), value); }

/// SubWord and RotWord(SubWord) (FIPS 197 §5.2).
struct Substituted {
  uint32_t plain;
  uint32_t rotated;
};
AES_NI inline Substituted substituted(uint32_t word) {
  const __m128i all = _mm_aeskeygenassist_si128(_mm_set1_epi32(static_cast<int>(word)), 0);
  return {static_cast<uint32_t>(_mm_extract_epi32(all, 0)), static_cast<uint32_t>(_mm_extract_epi32(all, 1))};
}

/// Key expansion (FIPS 197 §5.2) on words in memory order. `words` begins with the key's `key_words` words.
AES_NI void expand(uint32_t* words, size_t key_words, size_t count) {
  uint32_t constant = 1;
  for (size_t i = key_words; i < count; ++i) {
    uint32_t word = words[i - 1];
    if (i % key_words == 0) {
      word = substituted(word).rotated ^ constant;
      constant = constant == 0x80 ? 0x1b : constant << 1;
    } else if (key_words == 8 && i % key_words == 4) {
      word = substituted(word).plain;
    }
    words[i] = words[i - key_words] ^ word;
  }
}

}  // namespace

AesKey::AesKey(Bytes key) : last_(key.size() / 4 + 6) {
  require(key.size() == 16 || key.size() == 32, "an AES key has 16 or 32 bytes");
  std::array<uint32_t, 4 * (kMostRounds + 1)> words{};
  std::memcpy(words.data(), key.data(), key.size());
  expand(words.data(), key.size() / 4, 4 * (last_ + 1));
  std::memcpy(rounds_.data(), words.data(), sizeof(rounds_));
  wipe(words.data(), sizeof(words));
}

AesKey::~AesKey() { wipe(rounds_.data(), sizeof(rounds_)); }

AES_NI void AesKey::encrypt(const AesBlock& in, AesBlock& out) const {
  __m128i block = _mm_xor_si128(load(in.data()), load(&rounds_[0]));
  for (size_t i = 1; i < last_; ++i) block = _mm_aesenc_si128(block, load(&rounds_[i]));
  store(out.data(), _mm_aesenclast_si128(block, load(&rounds_[last_])));
}

AES_NI void AesKey::apply(const AesBlock& counter, std::span<uint8_t> text) const {
  const __m128i first = load(counter.data());
  uint32_t count = read_u32(counter, kCountAt);
  uint8_t* at = text.data();
  size_t left = text.size();
  while (left > 0) {
    __m128i stream[kAtOnce];
    const __m128i whitening = load(&rounds_[0]);
    for (__m128i& block : stream) {
      const auto big_endian = static_cast<int>(__builtin_bswap32(count++));
      block = _mm_xor_si128(_mm_insert_epi32(first, big_endian, 3), whitening);
    }
    for (size_t i = 1; i < last_; ++i) {
      const __m128i round = load(&rounds_[i]);
      for (__m128i& block : stream) block = _mm_aesenc_si128(block, round);
    }
    const __m128i round = load(&rounds_[last_]);
    for (__m128i& block : stream) block = _mm_aesenclast_si128(block, round);

    size_t done = 0;
    for (; done < kAtOnce && left >= kAesBlock; ++done, at += kAesBlock, left -= kAesBlock) {
      store(at, _mm_xor_si128(load(at), stream[done]));
    }
    if (done == kAtOnce) continue;
    AesBlock rest;
    store(rest.data(), stream[done]);
    for (size_t i = 0; i < left; ++i) at[i] ^= rest[i];
    return;
  }
}

}  // namespace carillon

#endif
