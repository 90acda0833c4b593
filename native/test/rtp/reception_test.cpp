#include <doctest/doctest.h>

#include <array>
#include <string_view>

#include "core/base/frame.hpp"
#include "core/rtp/quality.hpp"
#include "core/rtp/reception_stats.hpp"
#include "core/rtp/telephone_event.hpp"
#include "core/rtp/unwrap.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {

using Verdict = ReceptionStats::Verdict;

RtpPacket numbered(int sequence) {
  RtpPacket packet;
  packet.sequence = static_cast<uint16_t>(sequence);
  packet.timestamp = RtpTimestamp(static_cast<uint32_t>(sequence) * kFrameSamples);
  return packet;
}

Nanos on_time(int sequence) { return kSecond + sequence * kFrameTime; }

}  // namespace

TEST_SUITE("extended sequence numbers") {
  TEST_CASE("order is plain comparison across the wrap, forwards and backwards") {
    SequenceUnwrapper unwrap;
    const int64_t a = unwrap.extend(65534);
    CHECK(unwrap.extend(65535) == a + 1);
    CHECK(unwrap.extend(0) == a + 2);
    CHECK(unwrap.extend(65533) == a - 1);
    CHECK(unwrap.extend(1) == a + 3);
    CHECK(unwrap.highest() == a + 3);
  }
}

TEST_SUITE("reception statistics (RFC 3550 A.1, A.3, A.8)") {
  TEST_CASE("loss is what was expected and did not come; a late one is given back, a repeat counts once") {
    ReceptionStats stats;
    for (const int sequence : {65530, 65531, 65533, 65536, 65537})
      stats.receive(numbered(sequence), on_time(sequence), true);
    CHECK(stats.summary().expected == 8);
    CHECK(stats.summary().lost == 3);
    CHECK(stats.summary().mean_loss_burst == doctest::Approx(1.5));
    CHECK(stats.receive(numbered(65534), on_time(65537), true).verdict == Verdict::accepted);
    CHECK(stats.receive(numbered(65534), on_time(65537), true).verdict == Verdict::duplicate);
    CHECK(stats.summary().lost == 2);
    CHECK(stats.summary().duplicates == 1);
  }

  TEST_CASE("jitter follows the RFC's estimator and is zero on the grid") {
    ReceptionStats even;
    ReceptionStats uneven;
    double expected = 0;
    for (int i = 0; i < 200; ++i) {
      even.receive(numbered(i), on_time(i), true);
      const Nanos shift = i % 2 == 0 ? Nanos{} : 4 * kMillisecond;
      uneven.receive(numbered(i), on_time(i) + shift, true);
      if (i > 0) expected += (4.0 - expected) / 16;
    }
    CHECK(even.summary().jitter_ms == 0);
    CHECK(uneven.summary().jitter_ms == doctest::Approx(expected));
  }

  TEST_CASE("a stray number far away changes nothing; two in a row begin a new sequence") {
    ReceptionStats stats;
    for (int i = 0; i < 10; ++i) stats.receive(numbered(i), on_time(i), true);
    CHECK(stats.receive(numbered(30000), on_time(10), true).verdict == Verdict::suspect);
    CHECK(stats.receive(numbered(10), on_time(10), true).verdict == Verdict::accepted);
    CHECK(stats.summary().lost == 0);
    CHECK(stats.receive(numbered(40000), on_time(11), true).verdict == Verdict::suspect);
    CHECK(stats.receive(numbered(40001), on_time(12), true).verdict == Verdict::restarted);
    CHECK(stats.receive(numbered(40002), on_time(13), true).verdict == Verdict::accepted);
    CHECK(stats.summary().lost == 0);
    CHECK(stats.summary().received == 13);
  }
}

TEST_SUITE("bursts and gaps (RFC 3611 §4.7.2)") {
  LossPatternSummary pattern_of(std::string_view text) {
    LossPattern pattern;
    for (const char c : text) pattern.add(c != 'x');
    return pattern.summary();
  }

  TEST_CASE("single losses far from each other are a gap") {
    const auto summary = pattern_of("....................x.................x...................");
    CHECK(summary.burst_packets == 0);
    CHECK(summary.gap_packets == 58);
    CHECK(summary.gap_density == doctest::Approx(2.0 / 58));
    CHECK(summary.mean_run == 1);
  }

  TEST_CASE("losses with fewer than sixteen heard between them are a burst, from the first to the last") {
    const auto summary = pattern_of("....................xx..x.x....................x..................");
    CHECK(summary.burst_packets == 7);
    CHECK(summary.burst_density == doctest::Approx(4.0 / 7));
    CHECK(summary.gap_packets == 59);
    CHECK(summary.gap_density == doctest::Approx(1.0 / 59));
    CHECK(summary.mean_run == doctest::Approx(5.0 / 4));
    CHECK(pattern_of("xx").burst_density == 1);
    CHECK(pattern_of("").gap_packets == 0);
  }

  TEST_CASE("packets that come late into the window are heard, unless they are discarded") {
    ReceptionStats stats;
    for (int i = 0; i < 400; ++i) {
      if (i % 40 != 20) stats.receive(numbered(i), on_time(i), true);
      if (i % 40 == 22) {
        const auto seen = stats.receive(numbered(i - 2), on_time(i), true);
        if (i > 200) stats.discarded(seen.sequence);
      }
    }
    CHECK(stats.summary().lost == 0);
    CHECK(stats.pattern().burst_packets == 0);
    // Of 336 settled ones, those at 220, 260, 300.
    CHECK(stats.pattern().gap_density == doctest::Approx(3.0 / 336));
  }
}

TEST_SUITE("quality (ITU-T G.107)") {
  QualityInput input(uint64_t expected, uint64_t lost) {
    QualityInput in;
    in.reception.expected = expected;
    in.reception.received = expected - lost;
    in.reception.lost = lost;
    in.reception.mean_loss_burst = lost > 0 ? 1 : 0;
    return in;
  }

  TEST_CASE("nothing received, no opinion") { CHECK_FALSE(estimate_quality(input(0, 0)).mos); }

  TEST_CASE("a clean line is 4.4, one percent of loss costs little with concealment, ten percent much") {
    CHECK(*estimate_quality(input(1000, 0)).mos == doctest::Approx(4.40).epsilon(0.01));
    CHECK(*estimate_quality(input(1000, 10)).mos > 4.2);
    CHECK(*estimate_quality(input(1000, 100)).mos < 3.5);
  }

  TEST_CASE("late packets are lost to the ear, bursts hurt more than single losses, delay hurts too") {
    QualityInput late = input(1000, 0);
    late.late = 50;
    // They are told apart: the way has lost nothing.
    CHECK(estimate_quality(late).loss_fraction == 0);
    CHECK(estimate_quality(late).discard_fraction == doctest::Approx(0.05));
    CHECK(*estimate_quality(late).mos == doctest::Approx(*estimate_quality(input(1000, 50)).mos));
    QualityInput bursts = input(1000, 50);
    bursts.reception.mean_loss_burst = 5;
    CHECK(*estimate_quality(bursts).mos < *estimate_quality(input(1000, 50)).mos);
    QualityInput far = input(1000, 0);
    far.round_trip_ms = 600;
    CHECK(*estimate_quality(far).mos < 3.9);
  }
}

TEST_SUITE("telephone events (RFC 4733)") {
  RtpPacket event(uint32_t timestamp, const std::array<uint8_t, 4>& storage) {
    RtpPacket packet;
    packet.timestamp = RtpTimestamp(timestamp);
    packet.payload = storage;
    return packet;
  }

  TEST_CASE("a press is told once, with its first packet, whichever that is") {
    TelephoneEventReceiver receiver;
    const std::array<uint8_t, 4> running{5, 10, 0, 160};
    const std::array<uint8_t, 4> end{5, 0x8a, 3, 32};
    CHECK(receiver.receive(event(1000, end)) == '5');
    CHECK_FALSE(receiver.receive(event(1000, running)));
    CHECK_FALSE(receiver.receive(event(1000, end)));
    CHECK(receiver.receive(event(3000, running)) == '5');
    CHECK_FALSE(receiver.receive(event(1000, end)));  // a straggler
  }

  TEST_CASE("a press longer than the duration field goes on as a segment of the same one (§2.5.1.3)") {
    TelephoneEventReceiver receiver;
    const std::array<uint8_t, 4> running{11, 10, 0xff, 0xff};
    CHECK(receiver.receive(event(1000, running)) == '#');
    CHECK_FALSE(receiver.receive(event(1000 + 0xffff, running)));
  }

  TEST_CASE("events that are no keys, and short payloads, are nothing") {
    TelephoneEventReceiver receiver;
    const std::array<uint8_t, 4> flash{16, 0x8a, 0, 160};
    CHECK_FALSE(receiver.receive(event(1000, flash)));
    RtpPacket empty;
    CHECK_FALSE(receiver.receive(empty));
  }

  TEST_CASE("every key has its code, there and back") {
    for (const char digit : std::string_view("0123456789*#ABCD"))
      CHECK(digit_of_event(*event_of_digit(digit)) == digit);
    CHECK_FALSE(event_of_digit('E'));
  }
}

}  // namespace carillon
