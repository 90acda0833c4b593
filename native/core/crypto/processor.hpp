// Detects processor instructions for cryptography. Without them (other architectures, old processors),
// callers use OpenSSL; this folder has no software implementation.
#pragma once

#if defined(__x86_64__)
#define CARILLON_X86_CRYPTO 1
/// Marks a function that uses these instructions. The rest of the program runs on processors without them.
#define CARILLON_USES(instructions) __attribute__((target(instructions)))
#endif

namespace carillon {

/// Returns true if the processor has AES-NI, PCLMULQDQ and SSE4.1, which AES and GHASH need.
bool processor_has_aes();
/// Returns true if the processor has SHA-NI.
bool processor_has_sha1();

}  // namespace carillon
