#include "tls/srtp_ciphers.hpp"

#include <algorithm>
#include <array>

#include "core/srtp/packet_counter.hpp"
#include "core/srtp/processor_ciphers.hpp"
#include "tls/aes_keystream.hpp"
#include "tls/openssl_crypto.hpp"
#include "tls/openssl_dtls.hpp"

namespace carillon {

namespace {

constexpr size_t kSha1Bytes = 20;
constexpr size_t kSha1Block = 64;
constexpr size_t kAuthKeyBytes = 20;
constexpr size_t kNonceBytes = 12;
constexpr size_t kMaxBody = 2048;  // no datagram is longer

/// Key derivation labels for RTP (RFC 3711 §4.3.2). RTCP labels are higher by three.
enum Label : uint8_t { kCipherKey = 0, kAuthKey = 1, kSalt = 2, kRtcp = 3 };

/// Secret that is erased from memory when it is destroyed.
template <size_t size>
struct Secret {
  std::array<uint8_t, size> bytes{};
  Secret() = default;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { OPENSSL_cleanse(bytes.data(), size); }
};

int int_size(size_t size) { return static_cast<int>(size); }

/// Derives a session key with AES-CM as pseudo-random function (RFC 3711 §4.3.3, RFC 6188 §3). A shorter salt
/// is padded with zeros (RFC 7714 §11).
bool derive(const SrtpKeys& keys, uint8_t label, std::span<uint8_t> out) {
  constexpr size_t kLabelAt = 7;
  AesBlock block{};
  require(keys.salt().size() <= kAesBlock, "a salt has at most 16 bytes");
  std::ranges::copy(keys.salt(), block.begin());
  block[kLabelAt] ^= label;
  const AesKeystream stream(keys.key());
  if (!stream.works()) return false;
  std::ranges::fill(out, uint8_t{0});
  stream.apply(block, out, out.data());
  return true;
}

// ---------------------------------------------------------------- AES-CM with HMAC-SHA1

/// HMAC-SHA1 (RFC 2104). The two key blocks are hashed in advance, and only the resulting states are stored.
/// This keeps the memory per leg small, which is usually not cached when a packet arrives.
class HmacSha1 {
 public:
  explicit HmacSha1(Bytes key) : inner_(begun(key, 0x36)), outer_(begun(key, 0x5c)) {}
  HmacSha1(const HmacSha1&) = delete;
  HmacSha1& operator=(const HmacSha1&) = delete;
  ~HmacSha1() {
    OPENSSL_cleanse(&inner_, sizeof(inner_));
    OPENSSL_cleanse(&outer_, sizeof(outer_));
  }

  [[nodiscard]] std::array<uint8_t, kSha1Bytes> of(Bytes text, Bytes more) const {
    std::array<uint8_t, kSha1Bytes> digest;
    SHAstate_st state = behind(inner_);
    SHA1_Update(&state, text.data(), text.size());
    SHA1_Update(&state, more.data(), more.size());
    SHA1_Final(digest.data(), &state);
    state = behind(outer_);
    SHA1_Update(&state, digest.data(), digest.size());
    SHA1_Final(digest.data(), &state);
    return digest;
  }

 private:
  using Words = std::array<unsigned int, 5>;

  static Words begun(Bytes key, uint8_t pad) {
    require(key.size() <= kSha1Block, "an HMAC key has at most 64 bytes");
    Secret<kSha1Block> block;
    std::ranges::fill(block.bytes, pad);
    for (size_t i = 0; i < key.size(); ++i) block.bytes[i] ^= key[i];
    SHAstate_st state;
    SHA1_Init(&state);
    SHA1_Update(&state, block.bytes.data(), block.bytes.size());
    const Words words{state.h0, state.h1, state.h2, state.h3, state.h4};
    OPENSSL_cleanse(&state, sizeof(state));
    return words;
  }

  /// Returns the hash context after the key block.
  static SHAstate_st behind(const Words& words) {
    constexpr unsigned int kBits = 8 * kSha1Block;
    return {words[0], words[1], words[2], words[3], words[4], kBits, 0, {}, 0};
  }

  Words inner_;
  Words outer_;
};

class CounterCipher final : public PacketCipher {
 public:
  CounterCipher(AesKeystream stream, Bytes salt, Bytes auth_key)
      : stream_(std::move(stream)), hmac_(auth_key) {
    require(salt.size() <= kAesBlock, "a salt has at most 16 bytes");
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

  [[nodiscard]] Memory memory() const override { return {stream_.memory()}; }

 private:
  [[nodiscard]] std::array<uint8_t, kSha1Bytes> digest_of(const PacketParts& parts) const {
    return hmac_.of(parts.contiguous(), parts.aad_bytes);
  }

  void apply(PacketName name, std::span<uint8_t> body) const {
    stream_.apply(packet_counter(salt_, kCounterSsrcAt, name), body, body.data());
  }

  AesKeystream stream_;
  AesBlock salt_{};
  HmacSha1 hmac_;
};

// ---------------------------------------------------------------- AES-GCM

class GcmCipher final : public PacketCipher {
 public:
  GcmCipher(AesKeystream stream, Bytes salt)
      : stream_(std::move(stream)), gcm_(CRYPTO_gcm128_new(&stream_, encrypt_block)) {
    require(salt.size() == kNonceBytes, "the salt of AES-GCM has 12 bytes");
    std::ranges::copy(salt, salt_.begin());
  }
  [[nodiscard]] bool works() const { return gcm_ != nullptr; }

  void seal(PacketName name, const PacketParts& parts, std::span<uint8_t> tag) override {
    begin(name, parts);
    CRYPTO_gcm128_encrypt_ctr32(gcm_.get(), parts.body.data(), parts.body.data(), parts.body.size(), apply);
    CRYPTO_gcm128_tag(gcm_.get(), tag.data(), tag.size());
  }

  /// The body stays unchanged if authentication fails, so that another key can be tried.
  bool open(PacketName name, const PacketParts& parts, Bytes tag) override {
    if (parts.body.size() > kMaxBody) return false;
    std::array<uint8_t, kMaxBody> plain;
    begin(name, parts);
    CRYPTO_gcm128_decrypt_ctr32(gcm_.get(), parts.body.data(), plain.data(), parts.body.size(), apply);
    if (CRYPTO_gcm128_finish(gcm_.get(), tag.data(), tag.size()) != 0) return false;
    std::copy_n(plain.begin(), parts.body.size(), parts.body.begin());
    return true;
  }

  [[nodiscard]] Memory memory() const override { return {stream_.memory(), gcm_.get()}; }

 private:
  struct Release {
    void operator()(gcm128_context* context) const { CRYPTO_gcm128_release(context); }
  };

  static void encrypt_block(const unsigned char* in, unsigned char* out, const void* stream) {
    static_cast<const AesKeystream*>(stream)->encrypt(Bytes(in, kAesBlock), out);
  }

  static void apply(const unsigned char* in, unsigned char* out, size_t blocks, const void* stream,
                    const unsigned char* counter) {
    AesBlock first;
    std::copy_n(counter, kAesBlock, first.begin());
    static_cast<const AesKeystream*>(stream)->apply(first, Bytes(in, blocks * kAesBlock), out);
  }

  void begin(PacketName name, const PacketParts& parts) {
    const auto nonce = packet_counter(salt_, kNonceSsrcAt, name);
    CRYPTO_gcm128_setiv(gcm_.get(), nonce.data(), nonce.size());
    CRYPTO_gcm128_aad(gcm_.get(), parts.header.data(), parts.header.size());
    if (!parts.aad_bytes.empty())
      CRYPTO_gcm128_aad(gcm_.get(), parts.aad_bytes.data(), parts.aad_bytes.size());
  }

  AesKeystream stream_;
  std::unique_ptr<gcm128_context, Release> gcm_;
  std::array<uint8_t, kNonceBytes> salt_{};
};

/// Session keys derived from a master key and salt for RTP or RTCP (RFC 3711 §4.3.1).
struct SessionKeys {
  SessionKeys(const SrtpKeys& keys, uint8_t labels) : sizes(sizes_of(keys.suite)) {
    works = derive(keys, labels + kCipherKey, std::span(key_.bytes).first(sizes.key)) &&
            derive(keys, labels + kSalt, std::span(salt_.bytes).first(sizes.salt)) &&
            (sizes.aead || derive(keys, labels + kAuthKey, auth_.bytes));
  }
  [[nodiscard]] Bytes key() const { return Bytes(key_.bytes).first(sizes.key); }
  [[nodiscard]] Bytes salt() const { return Bytes(salt_.bytes).first(sizes.salt); }
  [[nodiscard]] Bytes auth() const { return auth_.bytes; }

  SrtpSizes sizes;
  bool works = false;

 private:
  Secret<32> key_;
  Secret<14> salt_;
  Secret<kAuthKeyBytes> auth_;
};

std::unique_ptr<PacketCipher> openssl_cipher(const SessionKeys& keys) {
  if (!keys.works) return nullptr;
  AesKeystream stream(keys.key());
  if (!stream.works()) return nullptr;
  if (!keys.sizes.aead) return std::make_unique<CounterCipher>(std::move(stream), keys.salt(), keys.auth());
  auto gcm = std::make_unique<GcmCipher>(std::move(stream), keys.salt());
  return gcm->works() ? std::move(gcm) : nullptr;
}

std::unique_ptr<PacketCipher> processor_cipher(const SessionKeys& keys) {
  if (!keys.works) return nullptr;
  return keys.sizes.aead ? processor_gcm_cipher(keys.key(), keys.salt())
                         : processor_counter_cipher(keys.key(), keys.salt(), keys.auth());
}

std::unique_ptr<PacketCipher> fastest_cipher(const SessionKeys& keys) {
  auto cipher = processor_cipher(keys);
  return cipher != nullptr ? std::move(cipher) : openssl_cipher(keys);
}

}  // namespace

Sha1Digest openssl_hmac_sha1(Bytes key, Bytes text) {
  Sha1Digest digest{};
  HMAC(EVP_sha1(), key.data(), int_size(key.size()), text.data(), text.size(), digest.data(), nullptr);
  return digest;
}

CipherPair openssl_ciphers(const SrtpKeys& keys, CipherUse /*use*/) {
  return {openssl_cipher({keys, 0}), openssl_cipher({keys, kRtcp})};
}

CipherPair srtp_ciphers(const SrtpKeys& keys, CipherUse /*use*/) {
  return {fastest_cipher({keys, 0}), fastest_cipher({keys, kRtcp})};
}

}  // namespace carillon
