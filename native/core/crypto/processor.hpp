// What of the cryptography in this folder the processor does by instructions of its own. Elsewhere (another
// architecture, an old processor) its users take OpenSSL's; nothing here is computed in another way.
#pragma once

#if defined(__x86_64__)
#define CARILLON_X86_CRYPTO 1
/// Before each function that uses the instructions: the rest of the program runs on processors without them.
#define CARILLON_USES(instructions) __attribute__((target(instructions)))
#endif

namespace carillon {

/// AES and the multiplication of GHASH: AES-NI, PCLMULQDQ, SSE4.1.
bool processor_has_aes();
/// SHA-NI.
bool processor_has_sha1();

}  // namespace carillon
