// SRTP for the benchmarks, with processor instructions only.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "core/srtp/srtp_protection.hpp"
#include "test/support/processor_keys.hpp"

namespace carillon {

/// Returns the suite for `sha80` or `gcm`, otherwise nullopt (plain RTP).
inline std::optional<SrtpSuite> suite_named(std::string_view name) {
  if (name == "sha80") return SrtpSuite::aes128_sha80;
  if (name == "gcm") return SrtpSuite::aes128_gcm;
  return std::nullopt;
}

/// Protection for one of two legs that are each other's peers, numbers 2 n and 2 n + 1. Each sends under a
/// separate key.
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
