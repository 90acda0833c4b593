// SRTP for the benchmarks, by the processor's instructions alone.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "core/srtp/srtp_protection.hpp"
#include "test/support/processor_keys.hpp"

namespace carillon {

/// `sha80` or `gcm`; nothing: plain RTP.
inline std::optional<SrtpSuite> suite_named(std::string_view name) {
  if (name == "sha80") return SrtpSuite::aes128_sha80;
  if (name == "gcm") return SrtpSuite::aes128_gcm;
  return std::nullopt;
}

/// Of one of two legs that speak with each other, numbers 2 n and 2 n + 1: each sends under a key of its own.
inline std::unique_ptr<PacketProtection> protection_of(SrtpSuite suite, size_t number) {
  const auto keys_of = [suite](size_t sender) {
    SrtpKeys keys;
    keys.suite = suite;
    std::memcpy(keys.master.data(), &sender, sizeof(sender));
    return keys;
  };
  return std::make_unique<SrtpProtection>(keys_of(number), keys_of(number ^ 1), test::underived);
}

}  // namespace carillon
