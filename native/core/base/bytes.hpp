// Big-endian reads and writes for wire formats (network byte order, RFC 3550 §4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace carillon {

using Bytes = std::span<const uint8_t>;

inline uint16_t read_u16(Bytes bytes, size_t at) {
  return static_cast<uint16_t>((bytes[at] << 8) | bytes[at + 1]);
}

inline uint32_t read_u32(Bytes bytes, size_t at) {
  return (uint32_t{read_u16(bytes, at)} << 16) | read_u16(bytes, at + 2);
}

inline void write_u16(std::span<uint8_t> bytes, size_t at, uint16_t value) {
  bytes[at] = static_cast<uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<uint8_t>(value);
}

inline void write_u32(std::span<uint8_t> bytes, size_t at, uint32_t value) {
  write_u16(bytes, at, static_cast<uint16_t>(value >> 16));
  write_u16(bytes, at + 2, static_cast<uint16_t>(value));
}

}  // namespace carillon
