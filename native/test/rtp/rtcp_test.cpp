#include "core/rtp/rtcp.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <queue>
#include <random>
#include <vector>

#include "core/leg/leg.hpp"
#include "engine/udp_socket.hpp"
#include "test/support/no_events.hpp"
#include "test/support/rtp_sink.hpp"

namespace carillon {

namespace {

constexpr uint32_t kOurs = 0x0c0ffee0;
constexpr Nanos kUp = 30 * kMillisecond;    // fastest delay from the peer to the leg
constexpr Nanos kDown = 25 * kMillisecond;  // delay from the leg to the peer
const Address kPeerRtp = *parse_address("192.0.2.1", 4000);
const Address kPeerRtcp = *parse_address("192.0.2.1", 4001);

/// What the receiver of the peer's packets must report, calculated as in RFC 3550 A.3 and A.8.
struct PeerAccount {
  void arrived(int64_t extended, uint32_t timestamp, Nanos at) {
    highest = std::max(highest, extended);
    ++received;
    const auto transit = static_cast<uint32_t>(at * 8 / kMillisecond) - timestamp;
    if (last_transit) {
      const int32_t off = std::abs(static_cast<int32_t>(transit - *last_transit));
      jitter += static_cast<uint32_t>(off) - ((jitter + 8) >> 4);
    }
    last_transit = transit;
  }
  [[nodiscard]] int64_t expected() const { return highest - first + 1; }
  /// Compares a report with the account, and begins the next interval.
  void check(const ReportBlock& block) {
    CHECK(block.highest_sequence == highest);
    CHECK(block.cumulative_lost == expected() - received);
    const int64_t expected_now = expected() - expected_before;
    const int64_t lost_now = std::max<int64_t>(0, expected_now - (received - received_before));
    CHECK(block.fraction_lost == (lost_now << 8) / expected_now);
    CHECK(std::abs(static_cast<int>(block.jitter) - static_cast<int>(jitter >> 4)) <= 1);
    expected_before = expected();
    received_before = received;
  }

  int64_t first = 0;
  int64_t highest = 0;
  int64_t received = 0;
  int64_t expected_before = 0;
  int64_t received_before = 0;
  uint32_t jitter = 0;  // 16 times the estimate
  std::optional<uint32_t> last_transit;
};

/// PCMU leg whose peer sends through a network with loss, jitter and reordering.
struct ReportedCall : RtpSink {
  struct OnWay {
    Nanos arrival{};
    int64_t extended = 0;
    uint32_t timestamp = 0;
    friend bool operator>(const OnWay& a, const OnWay& b) { return a.arrival > b.arrival; }
  };

  ReportedCall() : leg(config(), LegCodecs(CodecSpec{}, 0)) {
    LegRemote remote;
    remote.receive.source.signalled = kPeerRtp;
    remote.send.sending = true;
    leg.configure(remote, now);
  }
  static LegConfig config() {
    LegConfig config;
    config.ssrc = kOurs;
    config.sequence = 65'000;
    config.timestamp = 0xffff'0000;
    return config;
  }

  void send(LegHandle, const Address&, Bytes packet) override {
    ++packets;
    octets += static_cast<uint32_t>(packet.size() - kRtpHeaderBytes);
    last_timestamp = parse_rtp(packet)->timestamp.value();
  }
  void send_rtcp(LegHandle, const Address&, Bytes packet) override {
    reports.emplace_back(packet.begin(), packet.end());
  }

  void begin_source(uint32_t source, int64_t first) {
    ssrc = source;
    next = first;
    account = {};
    account.first = first;
  }
  /// Receives a sender report of the peer.
  void send_report() {
    report_sent = now - kUp;
    NoProtection none;
    RtcpSession peer(none, ssrc);
    RtcpSession::Facts facts;
    facts.sent = {ntp_of(report_sent), 0, 1, 160};
    const Bytes sent = peer.report(facts, report_sent);
    std::vector<uint8_t> bytes(sent.begin(), sent.end());
    REQUIRE(leg.receive_rtcp(bytes, kPeerRtcp, now) == Received::ignored);
  }
  /// Passes 20 ms. The first packet of a source always arrives.
  void pass(bool loses) {
    const int64_t number = next - account.first;
    const bool lost = loses && number > 0 && (number % 13 == 5 || number % 211 < 4);
    const Nanos jitter = number == 0 ? Nanos{} : nanos_of(std::abs(spread(random)), kMillisecond);
    const auto timestamp = static_cast<uint32_t>(0xfffe'0000 + number * 160);
    if (!lost) on_way.push({now + kUp + jitter, next, timestamp});
    ++next;
    now += kFrameTime;
    for (; !on_way.empty() && on_way.top().arrival <= now; on_way.pop()) {
      const OnWay& one = on_way.top();
      std::array<uint8_t, kRtpHeaderBytes + 160> packet{};
      write_rtp_header({false, 0, static_cast<uint16_t>(one.extended), RtpTimestamp(one.timestamp), ssrc},
                       packet);
      leg.receive(packet, kPeerRtp, one.arrival, events);
      account.arrived(one.extended, one.timestamp, one.arrival);
    }
    leg.frame(now, *this, events);
  }

  Nanos now = 100 * kSecond;
  NoEvents events;
  Leg leg;
  uint32_t ssrc = 0;
  int64_t next = 0;
  PeerAccount account;
  Nanos report_sent = kNever;
  std::priority_queue<OnWay, std::vector<OnWay>, std::greater<>> on_way;
  std::mt19937 random{5};
  std::normal_distribution<double> spread{0, 12};
  uint32_t packets = 0;
  uint32_t octets = 0;
  uint32_t last_timestamp = 0;
  std::vector<std::vector<uint8_t>> reports;
};

}  // namespace

TEST_SUITE("RTCP values compared with the peer's own account") {
  TEST_CASE("reports losses, sequence and jitter across wraps, and both sides find the same round trip") {
    ReportedCall call;
    call.begin_source(9, 65'000);
    NoProtection none;
    RtcpSession peer(none, call.ssrc);
    size_t seen = 0;
    for (int frame = 0; frame < 50 * 60; ++frame) {
      if (frame % 130 == 60) call.send_report();
      call.pass(frame < 50 * 40);
      if (call.reports.size() == seen) continue;
      CAPTURE(frame);
      ++seen;
      const std::vector<uint8_t>& report = call.reports.back();
      const auto content = parse_rtcp(report, call.ssrc);
      REQUIRE(content);
      REQUIRE(content->about_us);
      call.account.check(*content->about_us);
      // Our sender information.
      CHECK(content->sender_report == static_cast<uint32_t>(ntp_of(call.now) >> 16));
      CHECK(read_u32(report, 20) == call.packets);
      CHECK(read_u32(report, 24) == call.octets);
      CHECK(read_u32(report, 16) == call.last_timestamp + 160);
      if (call.report_sent == kNever) {
        CHECK(content->about_us->last_sr == 0);
        continue;
      }
      CHECK(content->about_us->last_sr == static_cast<uint32_t>(ntp_of(call.report_sent) >> 16));
      const Nanos since = call.now - (call.report_sent + kUp);
      CHECK(content->about_us->delay_since_last_sr == since * 65'536 / kSecond);
      REQUIRE(peer.receive(report, call.now + kDown));
      CHECK(*peer.round_trip_ms() == doctest::Approx(in_milliseconds(kUp + kDown)).epsilon(0.002));
      RtcpSession::Facts answer;
      answer.peer_ssrc = kOurs;
      const Bytes sent = peer.report(answer, call.now + 100 * kMillisecond);
      std::vector<uint8_t> bytes(sent.begin(), sent.end());
      call.leg.receive_rtcp(bytes, kPeerRtcp, call.now + 100 * kMillisecond + kUp);
      call.pass(frame < 50 * 40);
      CHECK(call.leg.statistics()->read().round_trip_ms == doctest::Approx(55).epsilon(0.002));
    }
    CHECK(seen >= 8);
    CHECK(call.account.highest > 0x1'0000);
    CHECK(call.account.expected() - call.account.received > 100);
  }

  TEST_CASE("starts the account of a new source at zero, but keeps the losses of the call") {
    ReportedCall call;
    call.begin_source(9, 1000);
    call.send_report();
    while (call.reports.empty()) call.pass(true);
    call.reports.clear();
    const uint64_t lost = call.leg.statistics()->read().packets_lost;
    CHECK(lost > 5);
    call.on_way = {};
    call.begin_source(10, 40'000);
    // The first packet of another source is not accepted until the second one confirms it.
    call.account.first = 40'001;
    call.account.received = -1;
    while (call.reports.empty()) call.pass(false);
    const auto content = parse_rtcp(call.reports.back(), 10);
    REQUIRE(content->about_us);
    CHECK(content->about_us->cumulative_lost == 0);
    CHECK(content->about_us->highest_sequence == call.account.highest);
    // The other source sent the sender report.
    CHECK(content->about_us->last_sr == 0);
    CHECK(content->about_us->delay_since_last_sr == 0);
    CHECK(call.leg.statistics()->read().packets_lost >= lost);
    call.send_report();
    call.reports.clear();
    while (call.reports.empty()) call.pass(false);
    CHECK(parse_rtcp(call.reports.back(), 10)->about_us->last_sr != 0);
  }

  TEST_CASE("does not answer a sender report whose age does not fit into the report") {
    NoProtection none;
    RtcpSession ours(none, 1);
    RtcpSession theirs(none, 2);
    RtcpSession::Facts from_them;
    from_them.sent = {ntp_of(kSecond), 0, 1, 160};
    ours.receive(theirs.report(from_them, kSecond), kSecond);
    RtcpSession::Facts facts;
    facts.peer_ssrc = 2;
    const auto answer = [&](Nanos age) {
      return *parse_rtcp(ours.report(facts, kSecond + age), 2)->about_us;
    };
    CHECK(answer(65'535 * kSecond).delay_since_last_sr == 0xffff'0000U);
    CHECK(answer(65'536 * kSecond).last_sr == 0);
    CHECK(answer(200'000 * kSecond).delay_since_last_sr == 0);
  }
}

TEST_SUITE("RTCP (RFC 3550 §6)") {
  TEST_CASE("parses its own report: sender info, report block and a well-formed rest") {
    NoProtection none;
    RtcpSession session(none, 0x11223344);
    RtcpSession::Facts facts;
    facts.sent = {ntp_of(3 * kSecond / 2), 160, 10, 1600};
    facts.peer_ssrc = 0xaabbccdd;
    facts.reception.expected = 100;
    facts.reception.received = 75;
    facts.reception.source_lost = 25;
    facts.reception.highest_sequence = 0x00010005;
    facts.reception.jitter_units = 42;
    facts.bye = true;
    const Bytes bytes = session.report(facts, 2 * kSecond);
    CHECK(bytes.size() % 4 == 0);
    const auto content = parse_rtcp(bytes, 0xaabbccdd);
    REQUIRE(content);
    CHECK(content->sender_report == 0x0001'8000U);
    REQUIRE(content->about_us);
    CHECK(content->about_us->fraction_lost == 64);
    CHECK(content->about_us->cumulative_lost == 25);
    CHECK(content->about_us->highest_sequence == 0x00010005);
    CHECK(content->about_us->jitter == 42);
    CHECK_FALSE(parse_rtcp(bytes, 1)->about_us);
  }

  TEST_CASE("parses VoIP metrics after a report and writes them at the offsets of RFC 3611 §4.7") {
    NoProtection none;
    RtcpSession ours(none, 0x11223344);
    RtcpSession theirs(none, 0xaabbccdd);
    VoipMetrics metrics;
    metrics.ssrc = 0xaabbccdd;
    metrics.loss_rate = 10;
    metrics.discard_rate = 3;
    metrics.burst_density = 128;
    metrics.gap_density = 2;
    metrics.burst_ms = 120;
    metrics.gap_ms = 9000;
    metrics.round_trip_ms = 75;
    metrics.end_system_ms = 60;
    metrics.rating = 90;
    metrics.listening_mos = 43;
    metrics.conversational_mos = 42;
    metrics.buffer_ms = 40;
    metrics.buffer_max_ms = 200;
    RtcpSession::Facts facts;
    facts.peer_ssrc = 0xaabbccdd;
    facts.metrics = metrics;
    facts.bye = true;
    const Bytes bytes = ours.report(facts, kSecond);
    const Bytes extended = bytes.subspan(bytes.size() - 8 - 44, 44);
    CHECK(extended[1] == 207);
    CHECK(read_u16(extended, 2) == 10);
    CHECK(extended[8] == 7);
    CHECK(read_u16(extended, 10) == 8);
    CHECK(read_u32(extended, 12) == 0xaabbccdd);
    CHECK(extended[16] == 10);
    CHECK(read_u16(extended, 24) == 75);
    CHECK(extended[31] == 16);  // Gmin
    CHECK(extended[32] == 90);
    CHECK(extended[35] == 42);
    REQUIRE(theirs.receive(bytes, 2 * kSecond));
    REQUIRE(theirs.metrics_about_us());
    CHECK(*theirs.metrics_about_us() == metrics);
    REQUIRE(theirs.about_us());

    // A block whose length exceeds the packet.
    std::vector<uint8_t> broken(bytes.begin(), bytes.end());
    broken[broken.size() - 8 - 44 + 11] = 200;
    CHECK_FALSE(theirs.receive(broken, 3 * kSecond));
  }

  TEST_CASE("reads a negative loss count from a peer that received duplicates") {
    NoProtection none;
    RtcpSession session(none, 1);
    RtcpSession::Facts facts;
    facts.peer_ssrc = 2;
    const Bytes bytes = session.report(facts, kSecond);
    std::vector<uint8_t> report(bytes.begin(), bytes.end());
    report[13] = report[14] = report[15] = 0xff;
    CHECK(parse_rtcp(report, 2)->about_us->cumulative_lost == -1);
  }

  TEST_CASE("computes the round-trip time as A - LSR - DLSR") {
    NoProtection none;
    RtcpSession ours(none, 1);
    RtcpSession theirs(none, 2);
    RtcpSession::Facts from_us;
    from_us.sent = {ntp_of(10 * kSecond), 0, 1, 160};
    from_us.peer_ssrc = 2;
    theirs.receive(ours.report(from_us, 10 * kSecond), 10 * kSecond + 40 * kMillisecond);
    RtcpSession::Facts from_them;
    from_them.peer_ssrc = 1;
    const Bytes answer = theirs.report(from_them, 12 * kSecond + 40 * kMillisecond);
    ours.receive(answer, 12 * kSecond + 75 * kMillisecond);
    REQUIRE(ours.round_trip_ms());
    CHECK(*ours.round_trip_ms() == doctest::Approx(75).epsilon(0.01));
  }

  TEST_CASE("sends reports every 2.5 to 7.5 s, at different times for different legs") {
    std::vector<Nanos> first;
    for (uint32_t ssrc = 1; ssrc <= 20; ++ssrc) {
      NoProtection none;
      RtcpSession session(none, ssrc * 7919);
      Nanos last{};
      int reports = 0;
      for (Nanos now{}; now < 60 * kSecond; now += 20 * kMillisecond) {
        if (!session.due(now)) continue;
        CHECK(now - last >= RtcpSession::kInterval / 2);
        CHECK(now - last <= RtcpSession::kInterval * 3 / 2 + 20 * kMillisecond);
        if (reports++ == 0) first.push_back(now);
        last = now;
      }
      CHECK(reports >= 8);
    }
    std::sort(first.begin(), first.end());
    CHECK(std::unique(first.begin(), first.end()) - first.begin() > 15);
  }

  TEST_CASE("remembers losses for 30 s, and uses the peer's own losses until it reports") {
    NoProtection none;
    RtcpSession ours(none, 1);
    RtcpSession theirs(none, 2);
    const auto report = [&](uint64_t expected, uint64_t received, Nanos at) {
      RtcpSession::Facts facts;
      facts.peer_ssrc = 1;
      facts.reception.expected = expected;
      facts.reception.received = received;
      REQUIRE(ours.receive(theirs.report(facts, at), at));
    };
    ReceptionSummary heard;
    const auto watch = [&](uint64_t lost, Nanos at) {
      heard.expected += 100;
      heard.lost = lost;
      ours.watch(heard, at);
    };
    CHECK(ours.loss_percent(kSecond) == 0);
    watch(0, kSecond);
    CHECK(ours.loss_percent(kSecond) == 0);
    watch(4, 2 * kSecond);
    CHECK(ours.loss_percent(2 * kSecond) == 4);
    watch(2, 3 * kSecond);
    CHECK(ours.loss_percent(32 * kSecond) == 4);
    CHECK(ours.loss_percent(33 * kSecond) == 0);

    report(100, 75, 40 * kSecond);
    CHECK(ours.loss_percent(40 * kSecond) == 25);
    // The peer has sent a report.
    watch(90, 41 * kSecond);
    CHECK(ours.loss_percent(41 * kSecond) == 25);
    report(200, 175, 60 * kSecond);
    CHECK(ours.loss_percent(70 * kSecond) == 25);
    CHECK(ours.loss_percent(71 * kSecond) == 0);
    report(300, 274, 80 * kSecond);
    CHECK(ours.loss_percent(80 * kSecond) == 1);
  }

  TEST_CASE("rejects invalid compound packets (A.2), and parses any bytes safely") {
    NoProtection none;
    RtcpSession session(none, 5);
    RtcpSession::Facts facts;
    facts.peer_ssrc = 6;
    const Bytes report = session.report(facts, kSecond);
    std::vector<uint8_t> bytes(report.begin(), report.end());
    for (size_t length = 1; length < bytes.size(); ++length) {
      if (length != 32) CHECK_FALSE(parse_rtcp(Bytes(bytes).first(length), 6));
    }
    CHECK_FALSE(parse_rtcp({}, 6));
    std::vector<uint8_t> description(bytes.begin() + 32, bytes.end());
    CHECK_FALSE(parse_rtcp(description, 6));
    std::mt19937 random(2);
    for (int i = 0; i < 50'000; ++i) {
      std::vector<uint8_t> changed(bytes);
      for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<uint8_t>(random());
      session.receive(changed, kSecond * i);
      std::vector<uint8_t> rubbish(random() % 100);
      for (auto& byte : rubbish) byte = static_cast<uint8_t>(random());
      session.receive(rubbish, kSecond * i);
    }
    if (session.round_trip_ms()) CHECK(*session.round_trip_ms() < 10'000);
  }
}

}  // namespace carillon
