#include "core/rtp/rtcp.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace carillon {

TEST_SUITE("RTCP (RFC 3550 §6)") {
  TEST_CASE("parses its own report: sender info, report block and a well-formed rest") {
    NoProtection none;
    RtcpSession session(none, 0x11223344);
    RtcpSession::Facts facts;
    facts.sent = {ntp_of(3 * kSecond / 2), 160, 10, 1600};
    facts.peer_ssrc = 0xaabbccdd;
    facts.reception.expected = 100;
    facts.reception.received = 75;
    facts.reception.lost = 25;
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
