// Erases secrets from memory.
#pragma once

#include <cstddef>
#include <cstring>

namespace carillon {

/// Overwrites memory with zeros in a way that the compiler cannot remove.
inline void wipe(void* from, size_t bytes) {
  std::memset(from, 0, bytes);
  __asm__ __volatile__("" : : "r"(from) : "memory");
}

}  // namespace carillon
