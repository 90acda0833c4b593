// Initial counter block of a packet's encryption.
#pragma once

#include <algorithm>
#include <array>

#include "core/srtp/packet_cipher.hpp"

namespace carillon {

/// Combines the salt with SSRC and index, starting at `ssrc_at` (RFC 3711 §4.1.1: byte 4 of 16; RFC 7714
/// §8.1, §9.1: byte 2 of 12). A shorter salt is padded with zeros.
template <size_t size>
std::array<uint8_t, size> packet_counter(const std::array<uint8_t, size>& salt, size_t ssrc_at,
                                         PacketName name) {
  std::array<uint8_t, size> out = salt;
  for (size_t i = 0; i < 4; ++i) out[ssrc_at + i] ^= static_cast<uint8_t>(name.ssrc >> (24 - 8 * i));
  for (size_t i = 0; i < 6; ++i) out[ssrc_at + 4 + i] ^= static_cast<uint8_t>(name.index >> (40 - 8 * i));
  return out;
}

inline constexpr size_t kCounterSsrcAt = 4;
inline constexpr size_t kNonceSsrcAt = 2;

}  // namespace carillon
