#include "core/ice/key_exchange.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "core/media_core.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"
#include "test/support/stun_check.hpp"

namespace carillon {

namespace {

Address peer_address() {
  Address out;
  out.family = Address::Family::ipv4;
  out.ip = {192, 0, 2, 1};
  out.port = 50'000;
  return out;
}
const Address kPeer = peer_address();

/// Media core with a leg that uses ICE.
struct Rig : RtpSink, NoEvents, KeyExchange {
  MediaCore core{*this, *this};
  LegHandle leg{MediaCore::kMaxLegs + 1};
  int reports = 0;
  uint8_t checks = 0;

  Rig() {
    core.exchange_keys_by(*this);
    LegConfig config;
    config.handle = leg;
    auto made = std::make_unique<Leg>(config);
    auto ice = std::make_unique<IceLite>(IceCredentials{"ours", "password", "them"},
                                         [](Bytes, Bytes) { return Sha1Digest{}; });
    made->find_peer_by(ice, kSecond);
    core.add_leg(std::move(made));
  }

  /// Receives a check in a new transaction.
  void check(const Address& from, Nanos now) {
    std::vector<uint8_t> bytes = stun_check("ours:them", true, ++checks);
    core.receive(leg, bytes, from, now);
  }

  void send(LegHandle, const Address&, Bytes) override {}
  void received(LegHandle, Bytes) override {}
  void reachable(LegHandle, const Address& peer) override {
    CHECK(peer == kPeer);
    ++reports;
  }
};

}  // namespace

TEST_SUITE("key exchange of a leg") {
  TEST_CASE("reports a reachable peer again with its later checks, because a report can be lost") {
    Rig rig;
    rig.check(kPeer, kSecond);
    CHECK(rig.reports == 1);
    rig.check(kPeer, 2 * kSecond);
    CHECK(rig.reports == 2);
  }

  TEST_CASE("limits the reports of a peer that floods the leg with checks") {
    Rig rig;
    for (int i = 0; i < 200; ++i) rig.check(kPeer, kSecond);
    CHECK(rig.reports < 100);
  }
}

}  // namespace carillon
