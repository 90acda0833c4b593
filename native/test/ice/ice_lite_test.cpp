#include "core/ice/ice_lite.hpp"

#include <doctest/doctest.h>

#include "test/support/stun_check.hpp"

namespace carillon {

namespace {
Address peer_at(uint16_t port) {
  Address out;
  out.family = Address::Family::ipv4;
  out.ip = {192, 0, 2, 1};
  out.port = port;
  return out;
}

/// Counts the datagrams of the key exchange that pass.
int admitted(IceLite& ice, const Address& source, int datagrams, Nanos now) {
  int passed = 0;
  for (int i = 0; i < datagrams; ++i) passed += ice.admits_keys(source, now) ? 1 : 0;
  return passed;
}
}  // namespace

TEST_SUITE("ICE lite") {
  TEST_CASE("limits the key exchange datagrams of a peer, so that others can exchange keys") {
    IceLite ice({"ours", "password", "them"}, [](Bytes, Bytes) { return Sha1Digest{}; });
    const Address peer = peer_at(50'000);
    CHECK(admitted(ice, peer, 1, kSecond) == 0);
    CHECK(ice.receive(stun_check("ours:them", true), peer, kSecond).moved);
    CHECK(admitted(ice, peer_at(50'001), 1, kSecond) == 0);
    // The messages of a handshake pass, and those of another one a little later.
    CHECK(admitted(ice, peer, 30, kSecond) == 30);
    CHECK(admitted(ice, peer, 10'000, kSecond) < 100);
    CHECK(admitted(ice, peer, 30, kSecond + 100 * kMillisecond) == 30);
  }
}

}  // namespace carillon
