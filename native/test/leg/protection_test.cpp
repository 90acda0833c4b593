#include "core/rtp/protection.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/leg/leg.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon {

namespace {

Address address(uint16_t port) {
  Address out;
  out.family = Address::Family::ipv4;
  out.ip = {192, 0, 2, 1};
  out.port = port;
  return out;
}

/// Scrambles everything after the header and appends the longest tail. Substitute for SRTP.
class Scrambled final : public PacketProtection {
 public:
  static constexpr uint8_t kMark = 0xa7;

  std::span<uint8_t> unprotect_rtp(std::span<uint8_t> datagram) override { return open(datagram, 12); }
  std::span<uint8_t> unprotect_rtcp(std::span<uint8_t> datagram) override { return open(datagram, 8); }
  size_t protect_rtp(std::span<uint8_t> buffer, size_t size) override { return close(buffer, size, 12); }
  size_t protect_rtcp(std::span<uint8_t> buffer, size_t size) override { return close(buffer, size, 8); }
  void follow(PacketProtection& /*before*/) override {}

 private:
  static void scramble(std::span<uint8_t> bytes) {
    for (uint8_t& byte : bytes) byte ^= 0x5a;
  }
  static std::span<uint8_t> open(std::span<uint8_t> datagram, size_t header) {
    if (datagram.size() < header + kMaxTail || datagram.back() != kMark) return {};
    const auto packet = datagram.first(datagram.size() - kMaxTail);
    scramble(packet.subspan(header));
    return packet;
  }
  static size_t close(std::span<uint8_t> buffer, size_t size, size_t header) {
    REQUIRE(buffer.size() >= size + kMaxTail);
    scramble(buffer.first(size).subspan(header));
    std::ranges::fill(buffer.subspan(size, kMaxTail), kMark);
    return size + kMaxTail;
  }
};

struct Wire : RtpSink, NoEvents {
  std::vector<std::vector<uint8_t>> rtp;
  std::vector<std::vector<uint8_t>> rtcp;
  int changes = 0;

  void send(LegHandle, const Address&, Bytes packet) override {
    rtp.emplace_back(packet.begin(), packet.end());
  }
  void send_rtcp(LegHandle, const Address&, Bytes packet) override {
    rtcp.emplace_back(packet.begin(), packet.end());
  }
  void source_changed(LegHandle, SourceChange, const Address&) override { ++changes; }
};

/// Leg that sends a sawtooth and receives given packets.
struct Party {
  Wire wire;
  Leg leg;

  Party(int packet_ms, bool scrambled, uint16_t peer_port) : leg(config()) {
    LegRemote remote;
    remote.receive.source.signalled = address(peer_port);
    remote.receive.source.receiving = true;
    remote.send.sending = true;
    remote.send.packet_ms = packet_ms;
    LegCodecs codecs;
    codecs.waiting = Packetizer::room(kNarrowband);
    leg.configure(remote, kSecond, &codecs);
    if (!scrambled) return;
    std::unique_ptr<PacketProtection> protection = std::make_unique<Scrambled>();
    leg.protect_with(protection);
    leg.set_far_end(&saw_);
  }

 private:
  static LegConfig config() {
    LegConfig out;
    out.handle = LegHandle(1);
    out.ssrc = 7;
    return out;
  }
  class Saw final : public FarEnd {
   public:
    std::optional<AudioView> far_audio(Frame& out, Nanos /*now*/) override {
      for (Sample& sample : out) sample = static_cast<Sample>(level_ += 400);
      return out;
    }

   private:
    uint16_t level_ = 0;
  };
  Saw saw_;
};

/// Returns the payloads sent in one second with protection removed.
std::vector<std::vector<uint8_t>> payloads(int packet_ms, bool scrambled) {
  Party party(packet_ms, true, 40000);
  if (!scrambled) {
    std::unique_ptr<PacketProtection> none = std::make_unique<NoProtection>();
    party.leg.protect_with(none);
  }
  for (int i = 0; i < 50; ++i) {
    party.leg.frame(kSecond + i * kFrameTime, party.wire, party.wire);
    if (party.leg.needs_half_frames()) party.leg.half_frame(party.wire);
  }
  Scrambled reader;
  std::vector<std::vector<uint8_t>> out;
  for (auto& packet : party.wire.rtp) {
    const std::span<uint8_t> plain = scrambled ? reader.unprotect_rtp(packet) : std::span(packet);
    out.emplace_back(plain.begin(), plain.end());
  }
  return out;
}

}  // namespace

TEST_SUITE("packet protection") {
  TEST_CASE("sends the same packets with protection, regardless of the data behind them in memory") {
    for (const int packet_ms : {10, 20, 30, 40, 50, 60}) {
      CAPTURE(packet_ms);
      const auto plain = payloads(packet_ms, false);
      CHECK(plain.size() >= static_cast<size_t>(900 / packet_ms));
      CHECK(payloads(packet_ms, true) == plain);
    }
  }

  TEST_CASE("rejects unauthentic packets without side effects, and accepts authentic ones") {
    Party sender(20, true, 40000);
    Party receiver(20, true, 50000);
    for (int i = 0; i < 100; ++i) sender.leg.frame(kSecond + i * kFrameTime, sender.wire, sender.wire);
    Nanos now = kSecond;
    for (const auto& packet : sender.wire.rtp) {
      std::vector<uint8_t> forged = packet;
      forged.back() = 0;
      // Sent from the signalled address, and from another one long enough to be accepted.
      for (const uint16_t port : {uint16_t{50000}, uint16_t{51000}}) {
        CHECK(receiver.leg.receive(forged, address(port), now, receiver.wire).kind == Received::malformed);
      }
      now += kFrameTime;
    }
    CHECK(receiver.wire.changes == 0);
    CHECK(receiver.leg.receive_path().reception().received == 0);

    for (const auto& packet : sender.wire.rtp) {
      std::vector<uint8_t> bytes = packet;
      CHECK(receiver.leg.receive(bytes, address(50000), now, receiver.wire).kind == Received::audio);
      receiver.leg.frame(now, receiver.wire, receiver.wire);
      now += kFrameTime;
    }
    CHECK(std::ranges::count(receiver.leg.received(), Sample{0}) < 20);
  }

  TEST_CASE("protects RTCP too") {
    Party party(20, true, 40000);
    for (int i = 0; i < 10; ++i) party.leg.frame(kSecond + i * kFrameTime, party.wire, party.wire);
    party.leg.end(2 * kSecond, party.wire, party.wire);
    REQUIRE(party.wire.rtcp.size() == 1);
    Scrambled reader;
    CHECK_FALSE(parse_rtcp(party.wire.rtcp[0], 1));
    CHECK(parse_rtcp(reader.unprotect_rtcp(party.wire.rtcp[0]), 1));
  }

  TEST_CASE("discards packets before the keys exist without counting them as unauthentic") {
    Party party(kFrameMs, false, 40000);
    std::unique_ptr<PacketProtection> protection = std::make_unique<AwaitedProtection>();
    party.leg.protect_with(protection);
    const auto statistics = [&] {
      party.leg.end(kSecond, party.wire, party.wire);
      return party.leg.statistics()->read();
    };
    std::vector<uint8_t> packet(kRtpHeaderBytes + kNarrowFrame, 0xff);
    write_rtp_header({false, 0, 1, RtpTimestamp(0), 9}, packet);
    for (int i = 0; i < 100; ++i) {
      CHECK(party.leg.receive(packet, address(40000), kSecond, party.wire).kind == Received::ignored);
      CHECK(party.leg.receive_rtcp(packet, address(40001), kSecond) == Received::ignored);
    }
    CHECK(statistics().unauthentic == 0);
    CHECK(statistics().malformed == 0);
    CHECK(statistics().packets_received == 0);
    protection = std::make_unique<Scrambled>();
    party.leg.protect_with(protection);
    std::vector<uint8_t> foreign(5, 0x80);
    CHECK(party.leg.receive(foreign, address(40000), kSecond, party.wire).kind == Received::malformed);
    CHECK(statistics().unauthentic == 1);
  }
}

}  // namespace carillon
