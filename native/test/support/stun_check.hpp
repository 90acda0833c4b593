// Checks of an ICE peer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"

namespace carillon {

inline uint32_t stun_crc32(Bytes bytes) {
  uint32_t value = 0xffffffff;
  for (const uint8_t byte : bytes) {
    value ^= byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0);
  }
  return ~value;
}

/// Returns a Binding request with a username and a fingerprint (RFC 8489). `authenticated`: also with the
/// integrity of an HMAC that is always zero. `transaction`: the last octet of the transaction ID.
inline std::vector<uint8_t> stun_check(std::string_view name, bool authenticated, uint8_t transaction = 1) {
  std::vector<uint8_t> check(20);
  const auto attribute = [&](uint16_t type, size_t bytes) {
    const size_t at = check.size();
    check.resize(at + 4 + (bytes + 3) / 4 * 4);
    write_u16(check, at, type);
    write_u16(check, at + 2, static_cast<uint16_t>(bytes));
    write_u16(check, 2, static_cast<uint16_t>(check.size() - 20));
    return at + 4;
  };
  write_u16(check, 0, 1);
  write_u32(check, 4, 0x2112A442);
  check.back() = transaction;
  const size_t username = attribute(0x0006, name.size());
  std::ranges::copy(name, check.begin() + static_cast<std::ptrdiff_t>(username));
  if (authenticated) attribute(0x0008, 20);
  const size_t fingerprint = attribute(0x8028, 4);
  write_u32(check, fingerprint, stun_crc32(Bytes(check).first(fingerprint - 4)) ^ 0x5354554e);
  return check;
}

}  // namespace carillon
