// Violated preconditions of ciphers end the process in every build.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "core/crypto/sha1.hpp"
#include "core/srtp/processor_ciphers.hpp"

namespace carillon {

#ifdef CARILLON_X86_CRYPTO

namespace {

/// Runs `action` in another process. Returns true if it was aborted.
template <class Action>
bool aborts(Action action) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // instead of doctest's handler
    close(STDERR_FILENO);
    action();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

using Octets = std::vector<uint8_t>;
const Octets kKey(16), kSalt14(14), kSalt12(12), kAuth(20);

}  // namespace

TEST_SUITE("preconditions of ciphers" * doctest::skip(!processor_has_sha1() || !processor_has_aes())) {
  TEST_CASE("an HMAC key has at most 64 bytes") {
    CHECK_FALSE(aborts([] { PacketHmac hmac(Octets(64)); }));
    CHECK(aborts([] { PacketHmac hmac(Octets(65)); }));
    CHECK(aborts([] { (void)PacketHmac(Octets(20)).of(kKey, Octets(9)); }));
  }

  TEST_CASE("keys and salts have the lengths of RFC 3711 and RFC 7714") {
    CHECK_FALSE(aborts([] { processor_gcm_cipher(kKey, kSalt12); }));
    CHECK(aborts([] { processor_gcm_cipher(kKey, kSalt14); }));
    CHECK(aborts([] { processor_gcm_cipher(Octets(24), kSalt12); }));
    CHECK_FALSE(aborts([] { processor_counter_cipher(kKey, kSalt14, kAuth); }));
    CHECK(aborts([] { processor_counter_cipher(kKey, kSalt12, kAuth); }));
  }

  TEST_CASE("header and body are contiguous") {
    Octets packet(40);
    Octets tag(10);
    const auto seal = [&](size_t body_at) {
      const auto cipher = processor_counter_cipher(kKey, kSalt14, kAuth);
      cipher->seal({1, 1}, {Bytes(packet).first(12), std::span(packet).subspan(body_at), {}}, tag);
    };
    CHECK_FALSE(aborts([&] { seal(12); }));
    CHECK(aborts([&] { seal(16); }));
  }
}

#endif

}  // namespace carillon
