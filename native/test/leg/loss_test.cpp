#include <doctest/doctest.h>

#include <memory>

#include "core/leg/leg.hpp"
#include "engine/event_ring.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/rtp_sink.hpp"
#include "test/support/speech.hpp"

namespace carillon {

namespace {

constexpr CodecSpec kOpus{.coding = Coding::opus, .sample_rate = SampleRate(24000), .fec = true};
constexpr uint8_t kPayloadType = 96;
constexpr uint32_t kSsrc = 7;
constexpr uint32_t kPeerSsrc = 9;
const Address kPeer = *parse_address("192.0.2.1", 4000);
const Address kPeerReports = *parse_address("192.0.2.1", 4001);

/// Opus leg that sends without pauses.
struct Talker : RtpSink {
  Talker() : leg(config(), LegCodecs(kOpus, 0)) {
    LegRemote remote;
    remote.receive.source.signalled = kPeer;
    remote.receive.coding = remote.send.coding = Coding::opus;
    remote.receive.payload_type = remote.send.payload_type = kPayloadType;
    remote.send.sending = true;
    leg.configure(remote, now);
    Player::Options options;
    options.handle = PlayerHandle(1);
    options.times = 0;
    auto player = std::make_unique<Player>(
        options, std::make_shared<const Clip>(Clip{SampleRate(8000), test::Babble(3).talk(32'000)}));
    REQUIRE(leg.add(player));
  }
  static LegConfig config() {
    LegConfig config;
    config.ssrc = kSsrc;
    return config;
  }

  void send(LegHandle, const Address&, Bytes packet) override { octets += packet.size(); }
  void send_rtcp(LegHandle, const Address&, Bytes) override { ++reports; }

  /// Returns the octets sent in `seconds` while the peer also sends. Of every `loses_each` packets of the
  /// peer, one is lost (0: none).
  double talk(int seconds, uint16_t loses_each = 0) {
    const size_t before = octets;
    for (int i = 0; i < 50 * seconds; ++i) {
      ++sequence;
      std::array<uint8_t, kRtpHeaderBytes + 2> packet{};
      write_rtp_header({false, kPayloadType, sequence, RtpTimestamp(sequence * 960U), kPeerSsrc}, packet);
      if (loses_each == 0 || sequence % loses_each != 0) leg.receive(packet, kPeer, now, events);
      leg.frame(now, *this, events);
      now += kFrameTime;
    }
    return static_cast<double>(octets - before);
  }
  /// Sends a report in which the peer has received `heard` of a hundred packets.
  void report(uint64_t heard) {
    RtcpSession::Facts facts;
    facts.peer_ssrc = kSsrc;
    facts.reception.expected = expected += 100;
    facts.reception.received = received += heard;
    const Bytes sent = peer.report(facts, now);
    std::vector<uint8_t> bytes(sent.begin(), sent.end());
    REQUIRE(leg.receive_rtcp(bytes, kPeerReports, now) == Received::ignored);
  }

  Nanos now = kSecond;
  RecordRing records{EventRing::kCapacity};
  EventRing events{records};
  Leg leg;
  NoProtection none;
  RtcpSession peer{none, kPeerSsrc};
  uint64_t expected = 0;
  uint64_t received = 0;
  uint16_t sequence = 0;
  size_t octets = 0;
  size_t reports = 0;
};

}  // namespace

TEST_SUITE("packet loss towards a peer") {
  TEST_CASE("repeats audio (FEC) from the first report of a loss until no loss is reported for a while") {
    Talker talker;
    // The clip lasts four seconds.
    talker.talk(4);
    const double once = talker.talk(4);
    talker.report(100);
    CHECK(talker.talk(4) < 1.1 * once);
    talker.report(99);
    CHECK(talker.talk(4) > 1.2 * once);
    for (int i = 0; i < 7; ++i) {
      talker.report(100);
      CHECK(talker.talk(4) > (i < 6 ? 1.2 : 1.0) * once);
    }
    talker.talk(8);
    CHECK(talker.talk(4) < 1.1 * once);
  }

  TEST_CASE("applies the loss rate to a new encoder") {
    const auto said_anew = [](uint64_t heard) {
      Talker talker;
      talker.talk(4);
      talker.report(heard);
      LegCodecs codecs(kOpus, 0);
      LegRemote remote;
      remote.receive = talker.leg.receive_path().config();
      remote.send.coding = Coding::opus;
      remote.send.payload_type = kPayloadType;
      remote.send.sending = true;
      talker.leg.configure(remote, talker.now, &codecs);
      return talker.talk(1);
    };
    CHECK(said_anew(90) > 1.2 * said_anew(100));
  }

  TEST_CASE("uses the losses of the peer's own packets if the peer never reports") {
    Talker talker;
    talker.talk(4);
    const double once = talker.talk(4);
    CHECK(talker.talk(8) < 2.2 * once);
    talker.talk(8, 20);
    CHECK(talker.talk(4, 20) > 1.2 * once);
    talker.talk(44);
    CHECK(talker.talk(4) < 1.1 * once);
    // A report takes precedence.
    talker.report(100);
    talker.talk(8, 20);
    CHECK(talker.talk(4, 20) < 1.1 * once);
  }
}

}  // namespace carillon
