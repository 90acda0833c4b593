#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "core/leg/leg.hpp"
#include "test/support/narrow.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon {

namespace {

constexpr uint8_t kEvents = 101;

Address peer_address() {
  Address out;
  out.family = Address::Family::ipv4;
  out.ip = {192, 0, 2, 1};
  out.port = 4000;
  return out;
}

/// Leg that sends one digit for 200 ms, and its packets.
struct Keypad : RtpSink, NoEvents {
  Leg leg{config()};
  LegRemote remote;
  Nanos now = kSecond;
  std::vector<RtpPacket> sent;
  int finished = 0;

  Keypad() {
    remote.receive.source.signalled = peer_address();
    remote.send.sending = true;
    negotiate(kEvents);
    auto job = std::make_unique<DigitJob>();
    job->handle = JobHandle(1);
    job->steps = {{'5', 10, 2}};
    REQUIRE(leg.add(job));
  }

  static LegConfig config() {
    LegConfig config;
    config.handle = LegHandle(1);
    config.keep_alive = kFrameTime;
    return config;
  }
  /// Negotiates a payload type for telephone events, or none.
  void negotiate(std::optional<uint8_t> payload_type) {
    remote.send.telephone_event = payload_type;
    leg.configure(remote, now, nullptr);
  }
  void run(int frames) {
    for (int i = 0; i < frames; ++i) leg.frame(now += kFrameTime, *this, *this);
  }

  void send(LegHandle, const Address&, Bytes packet) override {
    const std::optional<RtpPacket> parsed = parse_rtp(packet);
    REQUIRE(parsed);
    const bool is_event = parsed->payload.size() == kTelephoneEventBytes;
    CHECK(parsed->payload_type == (is_event ? kEvents : 0));
    CHECK((is_event || parsed->payload.size() == kFrameSamples));
    sent.push_back(*parsed);
    sent.back().payload = {};
  }
  void digits_sent(JobHandle) override { ++finished; }
};

}  // namespace

TEST_SUITE("digits to the peer") {
  TEST_CASE("sends no telephone events after a new negotiation has removed them during a digit") {
    Keypad keypad;
    keypad.run(5);
    REQUIRE(keypad.sent.back().payload_type == kEvents);
    keypad.negotiate(std::nullopt);
    const size_t before = keypad.sent.size();
    keypad.run(20);
    CHECK(keypad.finished == 1);
    // Audio continues with the next frame.
    CHECK(keypad.sent.size() == before + 20);
  }
}

}  // namespace carillon
