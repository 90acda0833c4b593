// Secrets that leave no trace in memory.
#pragma once

#include <cstddef>
#include <cstring>

namespace carillon {

/// Not left out by the compiler, though nobody reads the bytes afterwards.
inline void wipe(void* from, size_t bytes) {
  std::memset(from, 0, bytes);
  __asm__ __volatile__("" : : "r"(from) : "memory");
}

}  // namespace carillon
