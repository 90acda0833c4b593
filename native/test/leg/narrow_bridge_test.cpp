#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "core/codec/g711.hpp"
#include "core/media_core.hpp"
#include "engine/event_ring.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/rtp_sink.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

constexpr LegHandle kWide{MediaCore::kMaxLegs + 1};
constexpr LegHandle kNarrow{MediaCore::kMaxLegs + 2};
const Address kWidePeer = *parse_address("192.0.2.1", 4000);
const Address kNarrowPeer = *parse_address("192.0.2.2", 4000);
constexpr CodecSpec kOpus{.coding = Coding::opus, .sample_rate = SampleRate(24'000)};
constexpr SampleRate kFull{24'000};
constexpr SampleRate kLow{8000};
constexpr double kHz = 300;
constexpr double kAmplitude = 8000;

struct Listener : LegTap {
  Listener() : LegTap(TapHandle(1)) {}
  void frame(const TapFrame& frame, Nanos, Events&) override {
    const AudioView received = frame.received;
    const AudioView sent = frame.sent;
    rate = received.rate;
    sent_rate = sent.rate;
    heard.insert(heard.end(), received.begin(), received.end());
  }
  void leg_ended(Events&) override {}
  SampleRate rate{8000};
  SampleRate sent_rate{8000};
  std::vector<Sample> heard;
};

/// Bridge of an Opus leg and a PCMU leg. Each peer sends a tone or nothing.
struct Bridge : RtpSink {
  Bridge() : core(*this, events) {
    add(kWide, kOpus, kWidePeer, 96);
    add(kNarrow, {}, kNarrowPeer, 0);
    core.bridge(kWide, kNarrow);
  }

  void add(LegHandle handle, const CodecSpec& spec, const Address& peer, uint8_t payload_type) {
    LegConfig config;
    config.handle = handle;
    core.add_leg(std::make_unique<Leg>(config, LegCodecs(spec, 0)));
    LegRemote remote;
    remote.receive.source.signalled = peer;
    remote.receive.coding = remote.send.coding = spec.coding;
    remote.receive.payload_type = remote.send.payload_type = payload_type;
    remote.send.sending = true;
    core.leg(handle)->configure(remote, now);
  }

  void send(LegHandle leg, const Address&, Bytes packet) override {
    const auto head = parse_rtp(packet);
    REQUIRE(head);
    if (leg == kWide) {
      configuration = head->payload[0] >> 3;
      return;
    }
    for (const uint8_t code : head->payload) said.push_back(g711_decode(G711Law::mu, code));
  }

  void say(LegHandle leg, const Address& peer, const RtpHeader& header, Bytes payload) {
    std::vector<uint8_t> packet(kRtpHeaderBytes);
    write_rtp_header(header, packet);
    packet.insert(packet.end(), payload.begin(), payload.end());
    core.receive(leg, packet, peer, now);
  }

  /// Both peers send for this many frames.
  void talk(int frames, double wide_amplitude, double narrow_amplitude) {
    for (int i = 0; i < frames; ++i, ++frame) {
      std::vector<Sample> wide(480);
      std::vector<uint8_t> narrow(160);
      for (size_t k = 0; k < wide.size(); ++k) {
        const double t = (frame * 480.0 + static_cast<double>(k)) / 24'000;
        wide[k] = static_cast<Sample>(wide_amplitude * std::sin(2 * std::numbers::pi * kHz * t) +
                                      wide_amplitude / 2 * std::sin(2 * std::numbers::pi * 6000 * t));
        if (k % 3 == 0) {
          narrow[k / 3] = g711_encode(
              G711Law::mu, static_cast<Sample>(narrow_amplitude * std::sin(2 * std::numbers::pi * kHz * t)));
        }
      }
      std::vector<uint8_t> payload(encoder->max_payload());
      payload.resize(encoder->encode(Coding::opus, wide, payload).count());
      const auto number = static_cast<uint16_t>(frame);
      say(kWide, kWidePeer, {false, 96, number, RtpTimestamp(number * 960U), 1}, payload);
      say(kNarrow, kNarrowPeer, {false, 0, number, RtpTimestamp(number * 160U), 2}, narrow);
      for (int tick = 0; tick < kFrameMs; ++tick) core.tick(now += kTick);
    }
  }
  /// Plays silence without end to the narrow leg, which thus needs composed audio instead of transcoded
  /// packets.
  void keep_composing() {
    Player::Options options;
    options.handle = PlayerHandle(9);
    options.times = 0;
    options.manner = PlayManner::mixed;
    auto silence = std::make_shared<const Clip>(Clip{kLow, std::vector<Sample>(1600)});
    auto player = std::make_unique<Player>(options, std::move(silence));
    REQUIRE(core.leg(kNarrow)->add(player));
  }
  [[nodiscard]] SampleRate rate() const { return core.peek(kWide)->rate(); }
  [[nodiscard]] std::span<const Sample> last_said(size_t samples) const {
    return std::span(said).last(samples);
  }

  Nanos now = kSecond;
  RecordRing records{EventRing::kCapacity};
  EventRing events{records};
  MediaCore core;
  std::unique_ptr<AudioEncoder> encoder = make_encoder(kOpus);
  int frame = 0;
  /// Configuration of the last packet to the Opus peer (RFC 6716 §3.1).
  int configuration = -1;
  std::vector<Sample> said;
};

}  // namespace

TEST_SUITE("Opus leg bridged to an 8 kHz leg") {
  TEST_CASE("works at 8 kHz from the next pause and sounds as before") {
    Bridge bridge;
    bridge.keep_composing();
    // While another listener exists, the full rate is kept.
    std::unique_ptr<LegTap> tap = std::make_unique<Listener>();
    REQUIRE(bridge.core.leg(kWide)->add(tap));
    bridge.talk(50, kAmplitude, kAmplitude);
    REQUIRE(bridge.rate() == kFull);
    const auto removed = bridge.core.leg(kWide)->remove_tap(TapHandle(1));
    bridge.talk(10, kAmplitude, kAmplitude);
    CHECK(bridge.rate() == kFull);
    const double before = test::fit_sine(bridge.last_said(1600), kHz, 8000).amplitude;
    CHECK(before == doctest::Approx(kAmplitude).epsilon(0.1));
    bridge.talk(20, 0, kAmplitude);
    CHECK(bridge.rate() == kLow);
    bridge.talk(40, kAmplitude, 0);
    CHECK(bridge.rate() == kLow);
    CHECK(test::fit_sine(bridge.last_said(1600), kHz, 8000).amplitude ==
          doctest::Approx(before).epsilon(0.05));
    // In the other direction, the sent audio is narrow and has the right level.
    bridge.talk(20, 0, kAmplitude);
    CHECK(bridge.configuration < 4);
  }

  TEST_CASE("returns to its own rate for other listeners in the next pause, or after a time limit") {
    Bridge bridge;
    bridge.keep_composing();
    bridge.talk(20, 0, 0);
    bridge.talk(30, kAmplitude, 0);
    REQUIRE(bridge.rate() == kLow);
    std::unique_ptr<LegTap> tap = std::make_unique<Listener>();
    auto* const listener = static_cast<Listener*>(tap.get());
    REQUIRE(bridge.core.leg(kWide)->add(tap));
    bridge.talk(10, kAmplitude, 0);
    CHECK(listener->rate == kLow);
    CHECK(listener->heard.size() == 10 * 160);
    bridge.talk(10, 0, 0);
    CHECK(listener->rate == kFull);
    // Returns to 8 kHz only in a pause.
    bridge.talk(20, kAmplitude, 0);
    const auto removed = bridge.core.leg(kWide)->remove_tap(TapHandle(1));
    bridge.talk(10, kAmplitude, 0);
    CHECK(bridge.rate() == kFull);
    bridge.talk(10, 0, 0);
    CHECK(bridge.rate() == kLow);

    bridge.talk(20, kAmplitude, 0);
    tap = std::make_unique<Listener>();
    auto* const second = static_cast<Listener*>(tap.get());
    REQUIRE(bridge.core.leg(kWide)->add(tap));
    bridge.talk(49, kAmplitude, 0);
    CHECK(second->rate == kLow);
    bridge.talk(31, kAmplitude, 0);
    CHECK(second->rate == kFull);
    CHECK(std::ranges::max(bridge.last_said(31 * 160)) < 1.3 * kAmplitude);
    const auto heard = std::span(second->heard).last(2400);
    CHECK(test::fit_sine(heard, 6000, 24'000).amplitude == doctest::Approx(kAmplitude / 2).epsilon(0.3));
    CHECK(test::fit_sine(bridge.last_said(1600), kHz, 8000).amplitude ==
          doctest::Approx(kAmplitude).epsilon(0.1));
    bridge.core.unbridge(kWide, kNarrow);
    bridge.talk(10, 0, 0);
    CHECK(bridge.rate() == kFull);
  }

  TEST_CASE("sends the full bandwidth of a playback immediately") {
    Bridge bridge;
    bridge.talk(40, 0, 0);
    REQUIRE(bridge.configuration < 4);
    std::unique_ptr<LegTap> tap = std::make_unique<Listener>();
    auto* const listener = static_cast<Listener*>(tap.get());
    REQUIRE(bridge.core.leg(kWide)->add(tap));
    bridge.talk(1, 0, 0);
    CHECK(listener->sent_rate == kLow);
    auto clip = std::make_shared<const Clip>(Clip{kFull, test::sine(9000, 6000, 24'000, 48'000)});
    Player::Options options;
    options.handle = PlayerHandle(1);
    auto player = std::make_unique<Player>(options, std::move(clip));
    REQUIRE(bridge.core.leg(kWide)->add(player));
    bridge.talk(1, 0, 0);
    CHECK(bridge.configuration >= 12);
    CHECK(listener->sent_rate == kFull);
  }
}

}  // namespace carillon
