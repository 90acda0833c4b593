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

}  // namespace

std::unique_ptr<PacketProtection> protection_of(Argument value) {
  enum class Protection : uint8_t { none };
  if (!value.value().IsObject()) {
    static_cast<void>(value.choice<Protection>({{"none", Protection::none}}));
    return std::make_unique<NoProtection>();
  }
  Fields fields = value.fields();
  // The names of RFC 4568 §6.2, RFC 6188 §4 and RFC 7714 §14.2.
  const auto suite = fields["suite"].choice<SrtpSuite>({{"AES_CM_128_HMAC_SHA1_80", SrtpSuite::aes128_sha80},
                                                        {"AES_CM_128_HMAC_SHA1_32", SrtpSuite::aes128_sha32},
                                                        {"AES_256_CM_HMAC_SHA1_80", SrtpSuite::aes256_sha80},
                                                        {"AES_256_CM_HMAC_SHA1_32", SrtpSuite::aes256_sha32},
                                                        {"AEAD_AES_128_GCM", SrtpSuite::aes128_gcm},
                                                        {"AEAD_AES_256_GCM", SrtpSuite::aes256_gcm}});
  const SrtpKeys send = keys_of(suite, fields["send"]);
  SrtpKeys receive = keys_of(suite, fields["receive"]);
  receive.mki_bytes = static_cast<size_t>(fields["receiveMkiBytes"].integer(0, kMaxMkiBytes));
  auto protection = std::make_unique<SrtpProtection>(send, receive, openssl_ciphers);
  if (!protection->works()) value.wrong("a suite that this machine has");
  return protection;
}

}  // namespace carillon
