#include <doctest/doctest.h>

#include <algorithm>
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
  TEST_CASE("orders values across the wrap in both directions") {
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
  TEST_CASE("counts missing packets as lost, corrects late ones and counts duplicates once") {
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

  TEST_CASE("follows the RFC's jitter estimator and is zero for regular packets") {
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

  TEST_CASE("measures no jitter where the sender sets its timestamps forward or back") {
    for (const int64_t jump : {int64_t{1'000'000'000}, int64_t{-1'000'000}, int64_t{8000 * 60}}) {
      ReceptionStats stats;
      double most = 0;
      for (int i = 1000; i < 1100; ++i) {
        RtpPacket packet = numbered(i);
        if (i >= 1050) packet.timestamp += RtpTicks(jump);
        stats.receive(packet, on_time(i), true);
        most = std::max(most, stats.summary().jitter_ms);
      }
      CHECK(most == 0);
    }
  }

  TEST_CASE("ignores a single distant sequence number; two in a row begin a new sequence") {
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

  TEST_CASE("assigns isolated losses to a gap") {
    const auto summary = pattern_of("....................x.................x...................");
    CHECK(summary.burst_packets == 0);
    CHECK(summary.gap_packets == 58);
    CHECK(summary.gap_density == doctest::Approx(2.0 / 58));
    CHECK(summary.mean_run == 1);
  }

  TEST_CASE("counts losses with fewer than sixteen received packets between them as one burst") {
    const auto summary = pattern_of("....................xx..x.x....................x..................");
    CHECK(summary.burst_packets == 7);
    CHECK(summary.burst_density == doctest::Approx(4.0 / 7));
    CHECK(summary.gap_packets == 59);
    CHECK(summary.gap_density == doctest::Approx(1.0 / 59));
    CHECK(summary.mean_run == doctest::Approx(5.0 / 4));
    CHECK(pattern_of("xx").burst_density == 1);
    CHECK(pattern_of("").gap_packets == 0);
  }

  TEST_CASE("counts late packets as heard unless they are discarded") {
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
    // Three of 336 settled packets were lost: 220, 260 and 300.
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

  TEST_CASE("has no score without packets") { CHECK_FALSE(estimate_quality(input(0, 0)).mos); }

  TEST_CASE("scores 4.4 without loss, little less with one percent loss and much less with ten percent") {
    CHECK(*estimate_quality(input(1000, 0)).mos == doctest::Approx(4.40).epsilon(0.01));
    CHECK(*estimate_quality(input(1000, 10)).mos > 4.2);
    CHECK(*estimate_quality(input(1000, 100)).mos < 3.5);
  }

  TEST_CASE("lowers the score for late packets, bursts and delay") {
    QualityInput late = input(1000, 0);
    late.late = 50;
    // Reported separately: the network has lost nothing.
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

  TEST_CASE("reports a press once, with the first of its packets to arrive") {
    TelephoneEventReceiver receiver;
    const std::array<uint8_t, 4> running{5, 10, 0, 160};
    const std::array<uint8_t, 4> end{5, 0x8a, 3, 32};
    CHECK(receiver.receive(event(1000, end), 12) == '5');
    CHECK_FALSE(receiver.receive(event(1000, running), 10));
    CHECK_FALSE(receiver.receive(event(1000, end), 13));
    CHECK(receiver.receive(event(3000, running), 20) == '5');
    CHECK_FALSE(receiver.receive(event(1000, running), 11));  // late packet
    CHECK_FALSE(receiver.receive(event(1000, end), 21));      // the end repeated after the next press
    CHECK_FALSE(receiver.receive(event(3000, end), 22));
  }

  TEST_CASE(
      "continues a press longer than the duration field as another segment of the same press (§2.5.1.3)") {
    TelephoneEventReceiver receiver;
    const std::array<uint8_t, 4> running{11, 10, 0xff, 0xff};
    CHECK(receiver.receive(event(1000, running), 1) == '#');
    CHECK_FALSE(receiver.receive(event(1000 + 0xffff, running), 2));
  }

  TEST_CASE("continues a long press whose next segment begins with the next packet, as browsers send it") {
    for (const bool full_is_lost : {false, true}) {
      CAPTURE(full_is_lost);
      TelephoneEventReceiver receiver;
      int64_t sequence = 0;
      const auto send = [&](uint32_t timestamp, uint32_t ticks, bool marker) {
        const std::array<uint8_t, 4> payload{5, 10, static_cast<uint8_t>(ticks >> 8U),
                                             static_cast<uint8_t>(ticks)};
        RtpPacket packet = event(timestamp, payload);
        packet.marker = marker;
        return receiver.receive(packet, ++sequence).has_value();
      };
      for (uint32_t ticks = 960; ticks <= 68 * 960; ticks += 960)
        CHECK(send(1000, ticks, ticks == 960) == (ticks == 960));
      if (!full_is_lost) CHECK_FALSE(send(1000, 0xffff, false));
      for (uint32_t i = 0; i < 5; ++i) CHECK_FALSE(send(1000 + 69 * 960, 705 + i * 960, false));
      // The end was lost. The marker shows another press.
      CHECK(send(1000 + 80 * 960, 960, true));
    }
  }

  TEST_CASE("reports a press once if its timestamp advances with each packet") {
    for (const bool end_advances : {false, true}) {
      CAPTURE(end_advances);
      TelephoneEventReceiver receiver;
      int64_t sequence = 0;
      // Three presses of a key, 100 ms each, with pauses of 40 ms. The second one has no marker.
      for (uint32_t press = 0; press < 3; ++press) {
        const uint32_t begins = 1000 + press * 7 * 160;
        for (uint32_t i = 0; i < 7; ++i) {
          const auto ticks = static_cast<uint16_t>(160 * std::min(i + 1, 5U));
          const std::array<uint8_t, 4> payload{5, static_cast<uint8_t>(i < 4 ? 10 : 0x8a),
                                               static_cast<uint8_t>(ticks >> 8U),
                                               static_cast<uint8_t>(ticks)};
          RtpPacket packet = event(begins + (end_advances ? i : std::min(i, 4U)) * 160, payload);
          packet.marker = i == 0 && press != 1;
          CHECK(receiver.receive(packet, ++sequence).has_value() == (i == 0));
        }
      }
    }
  }

  TEST_CASE("reports equal keys without a marker, from the end of the press only, as separate presses") {
    TelephoneEventReceiver receiver;
    int64_t sequence = 0;
    const std::array<uint8_t, 4> end{5, 0x8a, 3, 32};
    for (uint32_t press = 0; press < 3; ++press) {
      for (const bool first : {true, false, false}) {
        CHECK(receiver.receive(event(1000 + press * 1120, end), ++sequence).has_value() == first);
      }
    }
  }

  TEST_CASE("ignores events that are not keys, and short payloads") {
    TelephoneEventReceiver receiver;
    const std::array<uint8_t, 4> flash{16, 0x8a, 0, 160};
    CHECK_FALSE(receiver.receive(event(1000, flash), 1));
    RtpPacket empty;
    CHECK_FALSE(receiver.receive(empty, 2));
  }

  TEST_CASE("converts every key to its code and back") {
    for (const char digit : std::string_view("0123456789*#ABCD"))
      CHECK(digit_of_event(*event_of_digit(digit)) == digit);
    CHECK_FALSE(event_of_digit('E'));
  }
}

}  // namespace carillon
