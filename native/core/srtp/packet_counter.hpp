// What a packet's encryption begins with, made of its name.
#pragma once

#include <algorithm>
#include <array>

#include "core/srtp/packet_cipher.hpp"

namespace carillon {

/// Salt with SSRC and index at `ssrc_at` and behind (RFC 3711 §4.1.1: 4 of 16 bytes; RFC 7714 §8.1, §9.1: 2
/// of 12). A shorter salt is filled up with zeros.
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
