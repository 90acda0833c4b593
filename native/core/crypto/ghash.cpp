#include "core/crypto/ghash.hpp"

#ifdef CARILLON_X86_CRYPTO

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "core/crypto/wipe.hpp"

#define CLMUL CARILLON_USES("pclmul,sse4.1")

namespace carillon {

namespace {

// GHASH uses the reverse bit order of the carry-less multiplication. With reversed bytes and the key
// multiplied by x it becomes POLYVAL (RFC 8452 appendix A). Its product has the right order and is reduced
// from below.

CLMUL inline __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
CLMUL inline void store(void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(to), value); }

CLMUL inline __m128i turned(__m128i block) {
  return _mm_shuffle_epi8(block, _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f));
}

/// Unreduced 256-bit product. `middle` overlaps both halves.
struct Product {
  __m128i low;
  __m128i middle;
  __m128i high;
};

CLMUL inline void add_product(Product& sum, __m128i a, __m128i b) {
  sum.low = _mm_xor_si128(sum.low, _mm_clmulepi64_si128(a, b, 0x00));
  sum.high = _mm_xor_si128(sum.high, _mm_clmulepi64_si128(a, b, 0x11));
  sum.middle = _mm_xor_si128(
      sum.middle, _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10)));
}

/// Divides by x^128 modulo x^128 + x^127 + x^126 + x^121 + 1, 64 bits at a time.
CLMUL inline __m128i reduced(const Product& product) {
  const __m128i polynomial = _mm_set_epi64x(static_cast<int64_t>(0xc200'0000'0000'0000), 1);
  constexpr int kSwapHalves = 0x4e;
  __m128i low = _mm_xor_si128(product.low, _mm_slli_si128(product.middle, 8));
  const __m128i high = _mm_xor_si128(product.high, _mm_srli_si128(product.middle, 8));
  for (int half = 0; half < 2; ++half) {
    low = _mm_xor_si128(_mm_shuffle_epi32(low, kSwapHalves), _mm_clmulepi64_si128(low, polynomial, 0x10));
  }
  return _mm_xor_si128(high, low);
}

CLMUL inline __m128i multiplied(__m128i a, __m128i b) {
  Product product{_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
  add_product(product, a, b);
  return reduced(product);
}

/// Multiplies by x modulo the polynomial, without a branch on secret data.
CLMUL inline __m128i doubled(__m128i value) {
  const auto low = static_cast<uint64_t>(_mm_extract_epi64(value, 0));
  const auto high = static_cast<uint64_t>(_mm_extract_epi64(value, 1));
  const uint64_t carry = 0 - (high >> 63);
  const uint64_t next_high = ((high << 1) | (low >> 63)) ^ (carry & 0xc200'0000'0000'0000);
  const uint64_t next_low = (low << 1) ^ (carry & 1);
  return _mm_set_epi64x(static_cast<int64_t>(next_high), static_cast<int64_t>(next_low));
}

}  // namespace

CLMUL GhashKey::GhashKey(const AesBlock& subkey) {
  const __m128i key = doubled(turned(load(subkey.data())));
  __m128i power = key;
  for (AesBlock& kept : powers_) {
    store(kept.data(), power);
    power = multiplied(power, key);
  }
}

GhashKey::~GhashKey() { wipe(powers_.data(), sizeof(powers_)); }

CLMUL void GhashKey::add(State& state, Bytes bytes) const {
  __m128i hash = load(state.value.data());
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  while (left > 0) {
    const size_t blocks = std::min(kPowers, (left + kAesBlock - 1) / kAesBlock);
    Product sum{_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
    for (size_t i = 0; i < blocks; ++i) {
      const size_t size = std::min(left, kAesBlock);
      AesBlock last{};
      if (size < kAesBlock) std::memcpy(last.data(), at, size);
      __m128i block = turned(load(size < kAesBlock ? last.data() : at));
      if (i == 0) block = _mm_xor_si128(block, hash);
      add_product(sum, block, load(powers_[blocks - 1 - i].data()));
      at += size;
      left -= size;
    }
    hash = reduced(sum);
  }
  store(state.value.data(), hash);
}

CLMUL AesBlock GhashKey::end(State& state, size_t aad_bytes, size_t text) const {
  AesBlock lengths{};
  write_u32(lengths, 4, static_cast<uint32_t>(8 * aad_bytes));
  write_u32(lengths, 12, static_cast<uint32_t>(8 * text));
  add(state, lengths);
  AesBlock out;
  store(out.data(), turned(load(state.value.data())));
  return out;
}

}  // namespace carillon

#endif
