// Asks the processor for memory before it is needed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace carillon {

/// Bytes that come into the cache together (x86-64, most of ARM64).
inline constexpr size_t kCacheLine = 64;

/// A hint, no access: any address will do. `bytes` from `from` on will be read or written soon.
inline void prefetch(const void* from, size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(from);
  for (size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(begin + at, 1, 3);
}

}  // namespace carillon
