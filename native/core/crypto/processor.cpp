#include "core/crypto/processor.hpp"

#ifdef CARILLON_X86_CRYPTO
#include <cpuid.h>
#endif

namespace carillon {

#ifdef CARILLON_X86_CRYPTO

bool processor_has_aes() {
  static const bool has = __builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("pclmul") != 0 &&
                          __builtin_cpu_supports("sse4.1") != 0;
  return has;
}

bool processor_has_sha1() {
  // Query the CPUID bit by number, because older compilers do not support it by name.
  static const bool has = [] {
    constexpr unsigned int kShaBit = 1U << 29;
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kShaBit) != 0;
  }();
  return has && __builtin_cpu_supports("sse4.1") != 0;
}

#else

bool processor_has_aes() { return false; }
bool processor_has_sha1() { return false; }

#endif

}  // namespace carillon
