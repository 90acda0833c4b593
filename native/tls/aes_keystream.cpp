#include "tls/aes_keystream.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/require.hpp"

namespace carillon {

namespace {
/// Blocks encrypted per call: a 20 ms packet at 64 kbit/s has 10 blocks.
constexpr size_t kBlocksAtOnce = 16;
constexpr size_t kCountAt = 12;

/// Combines whole words. Bytewise access could alias `out` and prevent vectorization.
void combine_block(const uint8_t* a, const uint8_t* b, uint8_t* out) {
  std::array<uint64_t, 2> x;
  std::array<uint64_t, 2> y;
  std::memcpy(x.data(), a, kAesBlock);
  std::memcpy(y.data(), b, kAesBlock);
  for (size_t i = 0; i < x.size(); ++i) x[i] ^= y[i];
  std::memcpy(out, x.data(), kAesBlock);
}

}  // namespace

AesKeystream::AesKeystream(Bytes key) : context_(EVP_CIPHER_CTX_new()) {
  require(key.size() == 16 || key.size() == 32, "an AES key has 16 or 32 bytes");
  const evp_cipher_st* const cipher = key.size() == 32 ? EVP_aes_256_ecb() : EVP_aes_128_ecb();
  // Without padding, every complete input block is output immediately.
  const bool begun = context_ != nullptr &&
                     EVP_CipherInit_ex(context_.get(), cipher, nullptr, key.data(), nullptr, 1) == 1 &&
                     EVP_CIPHER_CTX_set_padding(context_.get(), 0) == 1;
  if (!begun) context_.reset();
}

void AesKeystream::encrypt(Bytes in, uint8_t* out) const {
  int written = 0;
  EVP_CipherUpdate(context_.get(), out, &written, in.data(), static_cast<int>(in.size()));
}

void AesKeystream::apply(const AesBlock& counter, Bytes in, uint8_t* out) const {
  std::array<AesBlock, kBlocksAtOnce> stream;
  uint32_t count = read_u32(counter, kCountAt);
  while (!in.empty()) {
    const size_t size = std::min(in.size(), sizeof(stream));
    const auto blocks = std::span(stream).first((size + kAesBlock - 1) / kAesBlock);
    for (AesBlock& block : blocks) {
      block = counter;
      write_u32(block, kCountAt, count++);
    }
    encrypt({blocks.front().data(), blocks.size_bytes()}, blocks.front().data());
    const uint8_t* const key = blocks.front().data();
    size_t at = 0;
    for (; at + kAesBlock <= size; at += kAesBlock) combine_block(in.data() + at, key + at, out + at);
    for (; at < size; ++at) out[at] = static_cast<uint8_t>(in[at] ^ key[at]);
    in = in.subspan(size);
    out += size;
  }
}

}  // namespace carillon
