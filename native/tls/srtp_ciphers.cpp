#include "tls/srtp_ciphers.hpp"

#include <algorithm>
#include <array>

#include "tls/openssl_crypto.hpp"
#include "tls/openssl_dtls.hpp"

namespace carillon {

namespace {

using namespace openssl;

constexpr size_t kSha1Bytes = 20;
constexpr size_t kSha1Block = 64;
constexpr size_t kAuthKeyBytes = 20;
constexpr size_t kCounterBytes = 16;
constexpr size_t kNonceBytes = 12;
constexpr size_t kMaxBody = 2048;  // no datagram is longer

/// RFC 3711 §4.3.2: what is derived, numbered for RTP; RTCP's are three higher.
enum Label : uint8_t { kCipherKey = 0, kAuthKey = 1, kSalt = 2, kRtcp = 3 };

struct FreeContext {
  void operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<evp_cipher_ctx_st, FreeContext>;

/// Secrets that leave no trace in memory.
template <size_t size>
struct Secret {
  std::array<uint8_t, size> bytes{};
  Secret() = default;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { OPENSSL_cleanse(bytes.data(), size); }
};

int int_size(size_t size) { return static_cast<int>(size); }

Context context_of(const evp_cipher_st* cipher, Bytes key, CipherUse use) {
  Context context(EVP_CIPHER_CTX_new());
  const int encrypt = use == CipherUse::seal ? 1 : 0;
  if (context && EVP_CipherInit_ex(context.get(), cipher, nullptr, key.data(), nullptr, encrypt) == 1) {
    return context;
  }
  return nullptr;
}

bool set_nonce(const Context& context, Bytes nonce) {
  return EVP_CipherInit_ex(context.get(), nullptr, nullptr, nullptr, nonce.data(), -1) == 1;
}

bool update(const Context& context, uint8_t* out, Bytes in) {
  int written = 0;
  return EVP_CipherUpdate(context.get(), out, &written, in.data(), int_size(in.size())) == 1;
}

const evp_cipher_st* counter_mode(size_t key_bytes) {
  return key_bytes == 32 ? EVP_aes_256_ctr() : EVP_aes_128_ctr();
}

/// AES-CM as a pseudo-random function (RFC 3711 §4.3.3, RFC 6188 §3). A shorter salt is filled up with zeros
/// (RFC 7714 §11).
bool derive(const SrtpKeys& keys, uint8_t label, std::span<uint8_t> out) {
  constexpr size_t kLabelAt = 7;
  std::array<uint8_t, kCounterBytes> block{};
  std::ranges::copy(keys.salt(), block.begin());
  block[kLabelAt] ^= label;
  const Context context = context_of(counter_mode(keys.key().size()), keys.key(), CipherUse::seal);
  std::ranges::fill(out, uint8_t{0});
  return context && set_nonce(context, block) && update(context, out.data(), out);
}

// ---------------------------------------------------------------- AES-CM with HMAC-SHA1

/// HMAC (RFC 2104), the key's two blocks hashed beforehand.
class HmacSha1 {
 public:
  explicit HmacSha1(Bytes key) {
    Secret<kSha1Block> block;
    begin(key, 0x36, block, inner_);
    begin(key, 0x5c, block, outer_);
  }
  HmacSha1(const HmacSha1&) = delete;
  HmacSha1& operator=(const HmacSha1&) = delete;
  ~HmacSha1() {
    OPENSSL_cleanse(&inner_, sizeof(inner_));
    OPENSSL_cleanse(&outer_, sizeof(outer_));
  }

  [[nodiscard]] std::array<uint8_t, kSha1Bytes> of(Bytes text, Bytes more) const {
    std::array<uint8_t, kSha1Bytes> digest;
    SHAstate_st state = inner_;
    SHA1_Update(&state, text.data(), text.size());
    SHA1_Update(&state, more.data(), more.size());
    SHA1_Final(digest.data(), &state);
    state = outer_;
    SHA1_Update(&state, digest.data(), digest.size());
    SHA1_Final(digest.data(), &state);
    return digest;
  }

 private:
  static void begin(Bytes key, uint8_t pad, Secret<kSha1Block>& block, SHAstate_st& state) {
    std::ranges::fill(block.bytes, pad);
    for (size_t i = 0; i < key.size(); ++i) block.bytes[i] ^= key[i];
    SHA1_Init(&state);
    SHA1_Update(&state, block.bytes.data(), block.bytes.size());
  }

  SHAstate_st inner_{};
  SHAstate_st outer_{};
};

class CounterCipher final : public PacketCipher {
 public:
  CounterCipher(Context context, Bytes salt, Bytes auth_key) : context_(std::move(context)), hmac_(auth_key) {
    std::ranges::copy(salt, salt_.begin());
  }

  void seal(PacketName name, const PacketParts& parts, std::span<uint8_t> tag) override {
    apply(name, parts.body);
    const auto digest = digest_of(parts);
    std::copy_n(digest.begin(), tag.size(), tag.begin());
  }

  bool open(PacketName name, const PacketParts& parts, Bytes tag) override {
    const auto digest = digest_of(parts);
    if (CRYPTO_memcmp(digest.data(), tag.data(), tag.size()) != 0) return false;
    apply(name, parts.body);
    return true;
  }

 private:
  /// Header and body are one stretch of memory.
  [[nodiscard]] std::array<uint8_t, kSha1Bytes> digest_of(const PacketParts& parts) const {
    const Bytes packet(parts.header.data(), parts.header.size() + parts.body.size());
    return hmac_.of(packet, parts.beside);
  }

  /// RFC 3711 §4.1.1.
  void apply(PacketName name, std::span<uint8_t> body) {
    std::array<uint8_t, kCounterBytes> block = salt_;
    for (size_t i = 0; i < 4; ++i) block[4 + i] ^= static_cast<uint8_t>(name.ssrc >> (24 - 8 * i));
    for (size_t i = 0; i < 6; ++i) block[8 + i] ^= static_cast<uint8_t>(name.index >> (40 - 8 * i));
    if (set_nonce(context_, block)) update(context_, body.data(), body);
  }

  Context context_;
  std::array<uint8_t, kCounterBytes> salt_{};
  HmacSha1 hmac_;
};

// ---------------------------------------------------------------- AES-GCM

class GcmCipher final : public PacketCipher {
 public:
  GcmCipher(Context context, Bytes salt) : context_(std::move(context)) {
    std::ranges::copy(salt, salt_.begin());
  }

  void seal(PacketName name, const PacketParts& parts, std::span<uint8_t> tag) override {
    int written = 0;
    if (!begin(name, parts) || !update(context_, parts.body.data(), parts.body)) return;
    EVP_CipherFinal_ex(context_.get(), parts.body.data() + parts.body.size(), &written);
    EVP_CIPHER_CTX_ctrl(context_.get(), kGetTag, int_size(tag.size()), tag.data());
  }

  /// What is not authentic stays as it was: it may be tried under another key.
  bool open(PacketName name, const PacketParts& parts, Bytes tag) override {
    if (parts.body.size() > kMaxBody) return false;
    std::array<uint8_t, kMaxBody> plain;
    int written = 0;
    if (!begin(name, parts) || !update(context_, plain.data(), parts.body)) return false;
    EVP_CIPHER_CTX_ctrl(context_.get(), kSetTag, int_size(tag.size()), const_cast<uint8_t*>(tag.data()));
    if (EVP_CipherFinal_ex(context_.get(), plain.data(), &written) != 1) return false;
    std::copy_n(plain.begin(), parts.body.size(), parts.body.begin());
    return true;
  }

 private:
  /// RFC 7714 §8.1, §9.1.
  bool begin(PacketName name, const PacketParts& parts) {
    std::array<uint8_t, kNonceBytes> nonce = salt_;
    for (size_t i = 0; i < 4; ++i) nonce[2 + i] ^= static_cast<uint8_t>(name.ssrc >> (24 - 8 * i));
    for (size_t i = 0; i < 6; ++i) nonce[6 + i] ^= static_cast<uint8_t>(name.index >> (40 - 8 * i));
    return set_nonce(context_, nonce) && update(context_, nullptr, parts.header) &&
           (parts.beside.empty() || update(context_, nullptr, parts.beside));
  }

  Context context_;
  std::array<uint8_t, kNonceBytes> salt_{};
};

std::unique_ptr<PacketCipher> cipher_of(const SrtpKeys& keys, CipherUse use, uint8_t labels) {
  const SrtpSizes sizes = sizes_of(keys.suite);
  Secret<32> key;
  Secret<14> salt;
  Secret<kAuthKeyBytes> auth;
  const auto session_key = std::span(key.bytes).first(sizes.key);
  const auto session_salt = std::span(salt.bytes).first(sizes.salt);
  if (!derive(keys, labels + kCipherKey, session_key) || !derive(keys, labels + kSalt, session_salt)) {
    return nullptr;
  }
  if (sizes.aead) {
    const evp_cipher_st* const gcm = sizes.key == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
    Context context = context_of(gcm, session_key, use);
    return context ? std::make_unique<GcmCipher>(std::move(context), session_salt) : nullptr;
  }
  Context context = context_of(counter_mode(sizes.key), session_key, CipherUse::seal);
  if (!context || !derive(keys, labels + kAuthKey, auth.bytes)) return nullptr;
  return std::make_unique<CounterCipher>(std::move(context), session_salt, auth.bytes);
}

}  // namespace

Sha1Digest openssl_hmac_sha1(Bytes key, Bytes text) {
  Sha1Digest digest{};
  HMAC(EVP_sha1(), key.data(), int_size(key.size()), text.data(), text.size(), digest.data(), nullptr);
  return digest;
}

CipherPair openssl_ciphers(const SrtpKeys& keys, CipherUse use) {
  return {cipher_of(keys, use, 0), cipher_of(keys, use, kRtcp)};
}

}  // namespace carillon
