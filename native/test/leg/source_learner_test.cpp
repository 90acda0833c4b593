#include "core/leg/source_learner.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <vector>

#include "core/base/frame.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {

Address address(uint8_t last, uint16_t port) {
  Address out;
  out.family = Address::Family::ipv4;
  out.ip = {192, 0, 2, last};
  out.port = port;
  return out;
}

const Address kSignalled = address(1, 10);
const Address kNat = address(2, 20);
const Address kUnknown = address(3, 30);

/// Stream of 20 ms packets on the learner's clock.
struct Sender {
  Address from;
  uint32_t ssrc;
  uint16_t sequence = 65'530;
  uint32_t timestamp = 0xffff'ff00;

  SourceLearner::Packet next(uint16_t step = 1) {
    sequence = static_cast<uint16_t>(sequence + step);
    timestamp += step * static_cast<uint32_t>(kFrameSamples);
    return {from, ssrc, sequence, timestamp, true};
  }
};

struct Scene {
  SourceLearner learner;
  Nanos now = kSecond;
  std::vector<SourceChange> changes;

  /// By default, any host may become the peer.
  Scene() : Scene(open(kSignalled, {})) {}
  explicit Scene(const ExpectedSource& expected) { learner.expect(expected, now); }

  static ExpectedSource open(const Address& signalled, const Address& signalling) {
    ExpectedSource out{signalled, signalling, true, {}, false};
    out.accepts_others = true;
    return out;
  }
  void describe(const Address& signalled, bool receiving = true) {
    ExpectedSource next = open(signalled, {});
    next.receiving = receiving;
    learner.expect(next, now);
  }

  bool take(const SourceLearner::Packet& packet) {
    const SourceLearner::Verdict verdict = learner.accept(packet, now);
    if (verdict.change) changes.push_back(*verdict.change);
    return verdict.from_peer;
  }
  /// All senders send every 20 ms. Returns how many packets of the first were accepted.
  int send(std::initializer_list<Sender*> senders, int packets) {
    int accepted = 0;
    for (int i = 0; i < packets; ++i) {
      for (Sender* const sender : senders) {
        const bool taken = take(sender->next());
        if (sender == *senders.begin() && taken) ++accepted;
      }
      now += kFrameTime;
    }
    return accepted;
  }
  void pause(Nanos time, std::initializer_list<Sender*> senders = {}) {
    now += time;
    for (Sender* const sender : senders) sender->timestamp += static_cast<uint32_t>(time / kSampleTime);
  }
};

}  // namespace

TEST_SUITE("source learner: allowed hosts") {
  TEST_CASE("accepts no other host if SDP and signalling name the same one, regardless of the setting") {
    for (const bool accepts_others : {false, true}) {
      ExpectedSource expected{kSignalled, address(1, 5060), true, {}, false};
      expected.accepts_others = accepts_others;
      Scene scene(expected);
      Sender unknown{kUnknown, 2};
      CHECK(scene.send({&unknown}, 3000) == 0);
      CHECK(scene.learner.target() == kSignalled);
      Sender symmetric{address(1, 77), 3};
      CHECK(scene.send({&symmetric, &unknown}, 100) > 85);
      CHECK(scene.learner.target() == address(1, 77));
      CHECK(scene.changes == std::vector{SourceChange::learned});
    }
  }

  TEST_CASE("accepts both hosts but no other if SDP and signalling differ") {
    for (const Address& peer : {kSignalled, kNat, address(1, 99)}) {
      Scene scene({kSignalled, address(2, 5060), true, {}, false});
      Sender unknown{kUnknown, 2};
      CHECK(scene.send({&unknown}, 500) == 0);
      Sender honest{peer, 1};
      CHECK(scene.send({&honest, &unknown}, 50) > 35);
      CHECK(scene.learner.target() == peer);
    }
  }

  TEST_CASE("lets other hosts wait while the signalling host is preferred, with the setting") {
    Scene scene(Scene::open(kSignalled, address(2, 5060)));
    Sender unknown{kUnknown, 2};
    const int waiting = static_cast<int>(SourceLearner::kPreference / kFrameTime);
    CHECK(scene.send({&unknown}, waiting) == 0);
    CHECK(scene.send({&unknown}, 50) > 35);
    CHECK(scene.learner.target() == kUnknown);
  }

  TEST_CASE("accepts only the SDP host if the signalling host is unknown, unless the setting allows others") {
    Scene scene({kSignalled, {}, true, {}, false});
    Sender unknown{kUnknown, 2};
    CHECK(scene.send({&unknown}, 500) == 0);
    Sender symmetric{address(1, 77), 3};
    CHECK(scene.send({&symmetric}, 50) > 35);
  }

  TEST_CASE("accepts an SDP address that must not be sent to as a source") {
    ExpectedSource expected{{}, address(2, 5060), true, {}, false};
    expected.described = address(3, 0);
    Scene scene(expected);
    Sender gateway{kUnknown, 2};
    Sender other{address(4, 40), 3};
    CHECK(scene.send({&other}, 100) == 0);
    CHECK_FALSE(scene.learner.target().sendable());
    CHECK(scene.send({&gateway}, 50) > 35);
    CHECK(scene.learner.target() == kUnknown);
  }

  TEST_CASE("follows a stream that continues from another port of the same host, but not from another host") {
    Scene scene({kSignalled, address(1, 5060), true, {}, false});
    Sender phone{address(1, 70), 1};
    scene.send({&phone}, 100);
    phone.from = address(1, 71);
    CHECK(scene.send({&phone}, 100) > 85);
    CHECK(scene.learner.target() == address(1, 71));
    CHECK(scene.changes.back() == SourceChange::moved);
    phone.from = kUnknown;
    CHECK(scene.send({&phone}, 500) == 0);
    CHECK(scene.learner.target() == address(1, 71));
  }

  TEST_CASE("moves the leg to another host with a re-INVITE") {
    Scene scene({{}, address(1, 5060), true, {}, false});
    Sender phone{address(1, 70), 1};
    scene.send({&phone}, 50);
    phone.from = kNat;
    CHECK(scene.send({&phone}, 100) == 0);
    scene.learner.expect({{}, address(2, 5060), true, {}, false}, scene.now);
    CHECK(scene.send({&phone}, 50) > 40);
    CHECK(scene.learner.target() == kNat);
  }
}

TEST_SUITE("source learner (RFC 4961, RFC 7362 §5)") {
  TEST_CASE("accepts the signalled address with its first packet, and no unknown source afterwards") {
    Scene scene;
    Sender owner{kSignalled, 1};
    Sender unknown{kUnknown, 2};
    CHECK(scene.send({&owner}, 1) == 1);
    CHECK(scene.send({&unknown}, 500) == 0);
    CHECK(scene.learner.target() == kSignalled);
    CHECK(scene.changes.empty());
  }

  TEST_CASE("replaces an unknown source that came first with the owner's first packet") {
    for (const int silent_packets : {20, 100, 3000}) {
      Scene scene;
      Sender owner{kSignalled, 1};
      Sender unknown{kUnknown, 2};
      CHECK(scene.send({&unknown}, silent_packets) > 0);
      CHECK(scene.learner.target() == kUnknown);
      CHECK(scene.send({&owner, &unknown}, 100) == 100);
      CHECK(scene.learner.target() == kSignalled);
      CHECK(scene.changes == std::vector{SourceChange::learned, SourceChange::signalled});
    }
  }

  TEST_CASE("rejects an unknown source that copies the owner's SSRC during any pause") {
    Scene scene;
    Sender owner{kSignalled, 7};
    Sender unknown{kUnknown, 7, 100, 500'000};
    scene.send({&owner}, 50);
    CHECK(scene.send({&unknown}, 5000) == 0);
    CHECK(scene.send({&owner, &unknown}, 10) == 10);
  }

  TEST_CASE("requires consistent SSRC, sequence and timestamps over some time from another source") {
    const auto believed = [](const std::function<void(Sender&)>& spoil) {
      Scene scene;
      Sender nat{kNat, 1};
      int accepted = 0;
      for (int i = 0; i < 60; ++i) {
        spoil(nat);
        accepted += scene.send({&nat}, 1);
      }
      return accepted;
    };
    CHECK(believed([](Sender&) {}) == 60 - SourceLearner::kProof.packets + 1);
    CHECK(believed([](Sender& nat) { ++nat.ssrc; }) == 0);
    CHECK(believed([](Sender& nat) { nat.sequence = static_cast<uint16_t>(nat.sequence + 100); }) == 0);
    CHECK(believed([](Sender& nat) { nat.timestamp += 8000; }) == 0);
    CHECK(believed([](Sender& nat) { nat.timestamp = 0; }) > 0);  // 20 ms of error is jitter
    Scene burst;
    Sender nat{kNat, 1};
    for (int i = 0; i < 100; ++i) CHECK_FALSE(burst.take(nat.next()));
  }

  TEST_CASE(
      "accepts a plain NAT after four packets if the SDP names one host and signalling comes from another") {
    Scene scene({kSignalled, address(2, 5060), true, {}, false});
    Sender nat{kNat, 1};
    CHECK(scene.send({&nat}, 10) == 7);
  }

  TEST_CASE("keeps a candidate despite floods from many sources or from the same address") {
    Scene scene;
    Sender nat{kNat, 1};
    std::mt19937 generator(5);
    const auto random = [&] { return static_cast<uint32_t>(generator()); };
    int accepted = 0;
    for (int i = 0; i < 50; ++i) {
      for (uint16_t port = 0; port < 40; ++port) {
        CHECK_FALSE(scene.take({address(9, static_cast<uint16_t>(1000 + random() % 60'000)), random(),
                                static_cast<uint16_t>(random()), random(), true}));
        scene.take({kNat, 99, static_cast<uint16_t>(random()), random(), true});
      }
      accepted += scene.send({&nat}, 1);
    }
    CHECK(accepted >= 30);
    CHECK(scene.learner.target() == kNat);
  }

  TEST_CASE("learns a phone behind a NAT again within two seconds after a flood that was accepted") {
    Scene scene;
    Sender nat{kNat, 1};
    Sender unknown{kUnknown, 2};
    scene.send({&unknown}, 10);
    CHECK(scene.send({&nat, &unknown}, 500) == 0);
    CHECK(scene.send({&nat}, 100) >= 48);
    CHECK(scene.learner.target() == kNat);
    CHECK(scene.changes == std::vector{SourceChange::learned, SourceChange::replaced});
  }

  TEST_CASE("prefers a phone at its signalling host over an unknown source that is still sending") {
    Scene scene(Scene::open(kSignalled, address(2, 5060)));
    Sender nat{kNat, 1};
    Sender unknown{kUnknown, 2};
    scene.pause(SourceLearner::kPreference, {&nat, &unknown});
    scene.send({&unknown}, 20);
    CHECK(scene.learner.target() == kUnknown);
    CHECK(scene.send({&nat, &unknown}, 100) == 97);
    CHECK(scene.changes == std::vector{SourceChange::learned, SourceChange::preferred});
  }

  TEST_CASE("keeps a learned phone during a pause of at least one second, or as long as it was heard") {
    Scene scene;
    Sender nat{kNat, 1};
    Sender unknown{kUnknown, 2};
    scene.send({&nat}, 1000);  // 20 s
    CHECK(scene.send({&unknown}, 400) == 0);
    scene.pause(Nanos{}, {&nat});
    nat.timestamp += 400 * kFrameSamples;
    CHECK(scene.send({&nat, &unknown}, 10) == 10);
    scene.pause(40 * kSecond, {&nat, &unknown});
    CHECK(scene.send({&unknown}, 20) > 0);
    CHECK(scene.changes == std::vector{SourceChange::learned, SourceChange::replaced});
  }

  TEST_CASE("ignores silence on hold and counts it from the resumption") {
    Scene scene;
    Sender nat{kNat, 1};
    Sender unknown{kUnknown, 2};
    scene.send({&nat}, 50);
    scene.describe(kSignalled, false);
    CHECK(scene.send({&unknown}, 2000) == 0);
    scene.describe(kSignalled);
    CHECK(scene.send({&unknown}, 40) == 0);
    CHECK(scene.send({&nat}, 10) == 10);
  }

  TEST_CASE("follows the owner's stream to a changed NAT mapping") {
    for (const Address& before : {kSignalled, kNat}) {
      Scene scene;
      Sender owner{before, 1};
      scene.send({&owner}, 100);
      owner.from = address(4, 40);
      const int accepted = scene.send({&owner}, 100);
      CHECK(accepted > 85);
      CHECK(scene.changes.back() == SourceChange::moved);
      CHECK(scene.learner.target() == address(4, 40));
    }
  }

  TEST_CASE("ignores a stream that is duplicated or replayed by an unknown source") {
    Scene scene;
    Sender owner{kSignalled, 1};
    Sender copy{kUnknown, 1};
    CHECK(scene.send({&owner, &copy}, 500) == 500);
    CHECK(scene.changes.empty());
  }

  TEST_CASE("accepts keypad events, comfort noise and pauses in a consistent stream") {
    Scene scene;
    Sender nat{kNat, 1};
    for (int i = 0; i < 12; ++i) {
      SourceLearner::Packet packet = nat.next();
      packet.timestamp_runs = i < 2 || i > 8;
      if (!packet.timestamp_runs) packet.timestamp = 0;
      scene.take(packet);
      scene.now += kFrameTime;
      if (i == 10) scene.pause(700 * kMillisecond, {&nat});
    }
    CHECK(scene.learner.target() == kNat);
  }

  TEST_CASE("keeps the learned source after a refresh with the same address or 0.0.0.0 for hold") {
    Scene scene;
    Sender nat{kNat, 1};
    scene.send({&nat}, 20);
    scene.describe(kSignalled);
    CHECK(scene.learner.target() == kNat);
    Address zero;
    zero.family = Address::Family::ipv4;
    zero.port = 10;
    scene.describe(zero, false);
    CHECK(scene.learner.target() == kNat);
    scene.describe(kSignalled);
    CHECK(scene.learner.target() == kNat);
  }

  TEST_CASE("rejects the last packets of the former source after a new SDP address") {
    Scene scene;
    Sender before{kNat, 1};
    scene.send({&before}, 50);
    scene.describe(address(5, 50));
    CHECK(scene.learner.target() == address(5, 50));
    CHECK(scene.send({&before}, 15) == 0);
    Sender after{address(5, 50), 2};
    CHECK(scene.send({&after}, 5) == 5);
    // The new address equals the peer's actual one, so nothing changes.
    scene.describe(kNat);
    CHECK(scene.send({&before}, 1) == 1);
    scene.describe(address(6, 60));
    scene.describe(kNat);
    CHECK_FALSE(scene.learner.believed());
  }

  TEST_CASE("follows early media and the answer from two sources that both differ from the signalled one") {
    Scene scene;
    Sender early{kNat, 1};
    Sender late{address(6, 60), 2};
    scene.send({&early}, 250);
    CHECK(scene.send({&late}, 400) > 100);
    CHECK(scene.learner.target() == address(6, 60));
  }

  TEST_CASE("treats IPv4 and IPv6 addresses with equal bytes as different") {
    Scene scene;
    Address six = kSignalled;
    six.family = Address::Family::ipv6;
    Sender unknown{six, 2};
    CHECK(scene.send({&unknown}, 5) == 0);
  }

  TEST_CASE("restricts the socket only for an owner at the signalled address") {
    Scene scene;
    Sender owner{kSignalled, 1};
    CHECK_FALSE(scene.learner.settled(scene.now));
    scene.send({&owner}, 5);
    CHECK(scene.learner.settled(scene.now));
    scene.pause(SourceLearner::kSilent);
    CHECK_FALSE(scene.learner.settled(scene.now));
    Scene learned;
    Sender nat{kNat, 1};
    learned.send({&nat}, 20);
    CHECK_FALSE(learned.learner.settled(learned.now));
  }
}

}  // namespace carillon
