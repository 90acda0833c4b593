// Prefetches memory into the processor cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace carillon {

/// Cache line size in bytes (x86-64 and most ARM64 processors).
inline constexpr size_t kCacheLine = 64;

/// Prefetches `bytes` bytes from `from` for reading or writing. The address may be invalid.
inline void prefetch(const void* from, size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(from);
  for (size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(begin + at, 1, 3);
}

}  // namespace carillon
