#include "core/srtp/processor_ciphers.hpp"

#include <algorithm>

#include "core/base/prefetch.hpp"
#include "core/crypto/aes.hpp"
#include "core/crypto/ghash.hpp"
#include "core/crypto/sha1.hpp"
#include "core/srtp/packet_counter.hpp"

namespace carillon {

#ifdef CARILLON_X86_CRYPTO

namespace {

constexpr size_t kNonceBytes = 12;
constexpr size_t kCounterSaltBytes = 14;

/// Compares in constant time.
bool same(Bytes a, Bytes b) {
  uint8_t difference = 0;
  for (size_t i = 0; i < b.size(); ++i) difference |= static_cast<uint8_t>(a[i] ^ b[i]);
  return difference == 0;
}

/// Returns the memory after a cipher's first two cache lines, which are fetched with the object.
PacketCipher::Memory rest_of(const void* cipher) {
  return {static_cast<const std::byte*>(cipher) + 2 * kCacheLine};
}

class alignas(kCacheLine) CounterCipher final : public PacketCipher {
 public:
  CounterCipher(Bytes key, Bytes salt, Bytes auth_key) : hmac_(auth_key), key_(key) {
    require(salt.size() == kCounterSaltBytes, "the salt of AES-CM has 14 bytes");
    std::ranges::copy(salt, salt_.begin());
  }

  void seal(PacketName name, const PacketParts& parts, std::span<uint8_t> tag) override {
    key_.apply(packet_counter(salt_, kCounterSsrcAt, name), parts.body);
    std::copy_n(digest_of(parts).begin(), tag.size(), tag.begin());
  }

  bool open(PacketName name, const PacketParts& parts, Bytes tag) override {
    if (!same(digest_of(parts), tag)) return false;
    key_.apply(packet_counter(salt_, kCounterSsrcAt, name), parts.body);
    return true;
  }

  [[nodiscard]] Memory memory() const override { return rest_of(this); }

 private:
  [[nodiscard]] PacketHmac::Digest digest_of(const PacketParts& parts) const {
    return hmac_.of(parts.contiguous(), parts.aad_bytes);
  }

  AesBlock salt_{};
  PacketHmac hmac_;
  AesKey key_;
};

class alignas(kCacheLine) GcmCipher final : public PacketCipher {
 public:
  GcmCipher(Bytes key, Bytes salt) : ghash_(subkey(key)), key_(key) {
    require(salt.size() == kNonceBytes, "the salt of AES-GCM has 12 bytes");
    std::ranges::copy(salt, salt_.begin());
  }

  void seal(PacketName name, const PacketParts& parts, std::span<uint8_t> tag) override {
    AesBlock counter = counter_of(name);
    const AesBlock mask = first_of(counter);
    key_.apply(counter, parts.body);
    std::copy_n(tag_of(mask, parts).begin(), tag.size(), tag.begin());
  }

  /// The body stays unchanged if authentication fails, so that another key can be tried.
  bool open(PacketName name, const PacketParts& parts, Bytes tag) override {
    AesBlock counter = counter_of(name);
    if (!same(tag_of(first_of(counter), parts), tag)) return false;
    key_.apply(counter, parts.body);
    return true;
  }

  [[nodiscard]] Memory memory() const override { return rest_of(this); }

 private:
  static AesBlock subkey(Bytes key) {
    AesBlock out{};
    AesKey(key).encrypt(out, out);
    return out;
  }

  [[nodiscard]] AesBlock counter_of(PacketName name) const {
    AesBlock counter{};
    std::ranges::copy(packet_counter(salt_, kNonceSsrcAt, name), counter.begin());
    counter.back() = 1;
    return counter;
  }

  /// The first block encrypts the tag; the text starts at the second (SP 800-38D §7.1).
  AesBlock first_of(AesBlock& counter) const {
    AesBlock out;
    key_.encrypt(counter, out);
    ++counter.back();
    return out;
  }

  /// Hashes the header and the additional data as one sequence. Only the fixed-length RTCP header has
  /// additional data.
  [[nodiscard]] AesBlock tag_of(const AesBlock& mask, const PacketParts& parts) const {
    GhashKey::State state;
    if (parts.aad_bytes.empty()) {
      ghash_.add(state, parts.header);
    } else {
      require(parts.header.size() + parts.aad_bytes.size() <= kRtcpBesideBytes,
              "additional data of an RTCP packet has at most 12 bytes");
      std::array<uint8_t, kRtcpBesideBytes> text;
      const auto behind = std::ranges::copy(parts.header, text.begin()).out;
      std::ranges::copy(parts.aad_bytes, behind);
      ghash_.add(state, Bytes(text).first(parts.header.size() + parts.aad_bytes.size()));
    }
    ghash_.add(state, parts.body);
    AesBlock out = ghash_.end(state, parts.header.size() + parts.aad_bytes.size(), parts.body.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] ^= mask[i];
    return out;
  }

  static constexpr size_t kRtcpBesideBytes = 12;

  std::array<uint8_t, kNonceBytes> salt_{};
  GhashKey ghash_;
  AesKey key_;
};

}  // namespace

std::unique_ptr<PacketCipher> processor_counter_cipher(Bytes key, Bytes salt, Bytes auth_key) {
  if (!processor_has_aes() || !processor_has_sha1()) return nullptr;
  return std::make_unique<CounterCipher>(key, salt, auth_key);
}

std::unique_ptr<PacketCipher> processor_gcm_cipher(Bytes key, Bytes salt) {
  if (!processor_has_aes()) return nullptr;
  return std::make_unique<GcmCipher>(key, salt);
}

#else

std::unique_ptr<PacketCipher> processor_counter_cipher(Bytes, Bytes, Bytes) { return nullptr; }
std::unique_ptr<PacketCipher> processor_gcm_cipher(Bytes, Bytes) { return nullptr; }

#endif

}  // namespace carillon
