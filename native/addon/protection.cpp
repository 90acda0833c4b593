#include "addon/protection.hpp"

#include <algorithm>

#include "core/srtp/srtp_protection.hpp"
#include "tls/srtp_ciphers.hpp"

namespace carillon {

namespace {

constexpr int64_t kMaxMkiBytes = 128;  // RFC 4568 §6.1

SrtpKeys keys_of(SrtpSuite suite, Argument value) {
  SrtpKeys keys;
  keys.suite = suite;
  const Bytes bytes = value.bytes();
  const SrtpSizes sizes = sizes_of(suite);
  if (bytes.size() == sizes.key + sizes.salt) {
    std::ranges::copy(bytes, keys.master.begin());
  } else {
    value.wrong(std::to_string(sizes.key + sizes.salt) + " bytes");
  }
  return keys;
}

std::unique_ptr<PacketProtection> srtp_of(Argument& value, Fields& fields) {
  // Names of RFC 4568 §6.2, RFC 6188 §4 and RFC 7714 §14.2.
  const auto suite = fields["suite"].choice<SrtpSuite>({{"AES_CM_128_HMAC_SHA1_80", SrtpSuite::aes128_sha80},
                                                        {"AES_CM_128_HMAC_SHA1_32", SrtpSuite::aes128_sha32},
                                                        {"AES_256_CM_HMAC_SHA1_80", SrtpSuite::aes256_sha80},
                                                        {"AES_256_CM_HMAC_SHA1_32", SrtpSuite::aes256_sha32},
                                                        {"AEAD_AES_128_GCM", SrtpSuite::aes128_gcm},
                                                        {"AEAD_AES_256_GCM", SrtpSuite::aes256_gcm}});
  const SrtpKeys send = keys_of(suite, fields["send"]);
  SrtpKeys receive = keys_of(suite, fields["receive"]);
  receive.mki_bytes = static_cast<size_t>(fields["receiveMkiBytes"].integer(0, kMaxMkiBytes));
  auto protection = std::make_unique<SrtpProtection>(send, receive, srtp_ciphers);
  if (!protection->works()) value.wrong("a crypto suite that this machine supports");
  return protection;
}

DtlsTerms dtls_of(Fields& fields) {
  DtlsTerms terms;
  terms.client = fields["role"].choice<bool>({{"client", true}, {"server", false}});
  struct Hash {
    FingerprintHash hash;
    size_t bytes;
  };
  const auto [hash, bytes] = fields["hash"].choice<Hash>({{"sha-256", {FingerprintHash::sha256, 32}},
                                                          {"sha-384", {FingerprintHash::sha384, 48}},
                                                          {"sha-512", {FingerprintHash::sha512, 64}}});
  terms.peer.hash = hash;
  Argument fingerprint = fields["fingerprint"];
  const Bytes value = fingerprint.bytes();
  if (value.size() != bytes) fingerprint.wrong(std::to_string(bytes) + " bytes");
  terms.peer.value.assign(value.begin(), value.end());
  return terms;
}

}  // namespace

Protection protection_of(Argument value) {
  enum class Plain : uint8_t { none };
  if (!value.value().IsObject()) {
    static_cast<void>(value.choice<Plain>({{"none", Plain::none}}));
    return {std::make_unique<PlainProtection>(), std::nullopt};
  }
  Fields fields = value.fields();
  if (fields["role"].given()) return {nullptr, dtls_of(fields)};
  return {srtp_of(value, fields), std::nullopt};
}

}  // namespace carillon
