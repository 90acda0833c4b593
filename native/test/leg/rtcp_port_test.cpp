// Port to which a leg sends RTCP.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "core/leg/leg.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon {

namespace {

constexpr uint32_t kReporterSsrc = 5;
const Address kReporter = *parse_address("192.0.2.1", 4000);

struct ReportingLeg : RtpSink {
  ReportingLeg() : leg({}, LegCodecs(CodecSpec{}, 0)) {
    remote.receive.source.receiving = remote.send.sending = true;
    remote.receive.source.signalled = kReporter;
  }
  void send(LegHandle, const Address&, Bytes) override {}
  void send_rtcp(LegHandle, const Address& to, Bytes) override {
    CHECK(same_host(to, remote.receive.source.signalled));
    ports.insert(to.port);
  }
  void hear(const Address& source) {
    std::array<uint8_t, kRtpHeaderBytes + 160> packet{};
    write_rtp_header({false, 0, sequence, RtpTimestamp(160U * sequence), kReporterSsrc}, packet);
    ++sequence;
    leg.receive(packet, source, now, events);
  }
  /// Receives an empty receiver report.
  Received report_from(Address source, uint16_t port, uint32_t ssrc = kReporterSsrc) {
    source.port = port;
    std::array<uint8_t, 8> report{0x80, 201, 0, 1, 0, 0, 0, static_cast<uint8_t>(ssrc)};
    return leg.receive_rtcp(report, source, now);
  }
  /// Returns the ports to which the leg reports for 30 s, in which the peer sends from `source`.
  std::set<uint16_t> reports(const Address& source) {
    ports.clear();
    for (int frame = 0; frame < 1500; ++frame) {
      now += kFrameTime;
      hear(source);
      leg.frame(now, *this, events);
    }
    return ports;
  }

  Leg leg;
  LegRemote remote;
  NoEvents events;
  Nanos now = 100 * kSecond;
  uint16_t sequence = 1;
  std::set<uint16_t> ports;
};

}  // namespace

TEST_SUITE("RTCP port") {
  TEST_CASE("is the port above RTP, or the one in the SDP (RFC 3605)") {
    ReportingLeg call;
    call.leg.configure(call.remote, call.now);
    CHECK(call.reports(kReporter) == std::set<uint16_t>{4001});
    call.remote.rtcp_port = 7003;
    call.leg.configure(call.remote, call.now);
    CHECK(call.reports(kReporter) == std::set<uint16_t>{7003});
    CHECK(call.report_from(kReporter, 7003, 99) == Received::ignored);
    CHECK(call.report_from(kReporter, 4001, 99) == Received::unknown_source);
  }

  TEST_CASE("in the SDP does not apply to a peer behind a NAT, whose ports differ") {
    ReportingLeg call;
    call.remote.rtcp_port = 7003;
    call.leg.configure(call.remote, call.now);
    Address mapped = kReporter;
    mapped.port = 6000;
    CHECK(call.reports(mapped).contains(6001));
  }

  TEST_CASE("of a peer's reports applies until the SDP has another address") {
    ReportingLeg call;
    call.leg.configure(call.remote, call.now);
    CHECK(call.reports(kReporter) == std::set<uint16_t>{4001});
    CHECK(call.report_from(kReporter, 4007) == Received::ignored);
    call.leg.configure(call.remote, call.now);
    CHECK(call.reports(kReporter) == std::set<uint16_t>{4007});
    call.remote.receive.source.signalled = *parse_address("192.0.2.2", 5000);
    call.leg.configure(call.remote, call.now);
    CHECK(call.reports(call.remote.receive.source.signalled) == std::set<uint16_t>{5001});
  }
}

}  // namespace carillon
