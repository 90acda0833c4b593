#include "core/jitter/playout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "test/support/arrivals.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

using test::Line;

namespace {
/// Signal-to-noise ratio of a tone in mu-law, minus 0.5 dB.
constexpr double kCodedSnr = 38.5;
}  // namespace

TEST_SUITE("jitter buffer") {
  TEST_CASE("without jitter it has minimum delay and does not change the audio") {
    Line line;
    line.run(500, [](int) { return 30 * kMillisecond; });
    const PlayoutCounters& counters = line.playout.counters();
    CHECK(counters.late_packets == 0);
    // Only the steps from the initial delay to the minimum.
    CHECK(counters.concealed <= SampleCount(kFrameSamples));
    CHECK(counters.dropped_frames <= 2);
    CHECK(line.delay.back() <= DelayEstimator::kMinDelay + 20 * kMillisecond);
    const std::span<const Sample> tail(line.heard.data() + 300 * kFrameSamples, 150 * kFrameSamples);
    CHECK(test::sine_snr_db(tail, 400, kLineRate) > kCodedSnr);
  }

  TEST_CASE(
      "outputs complete audio as the concealer would, and losses as if the concealer had received "
      "everything") {
    std::mt19937 random(8);
    std::vector<bool> lost(1500);
    for (size_t i = 400; i < lost.size() - 100; ++i)
      lost[i] = random() % 12 == 0 || (lost[i - 1] && random() % 2 == 0);
    Line line;
    constexpr Nanos kOnWay = 30 * kMillisecond;
    line.run(static_cast<int>(lost.size()),
             [&](int i) { return lost[static_cast<size_t>(i)] ? std::nullopt : std::optional(kOnWay); });
    CHECK(line.playout.counters().concealed > SampleCount(50 * kFrameSamples));

    // The delay settles long before frame 300. From there on, compare consecutive packets.
    Line source;
    PacketLossConcealer<8> concealer;
    for (size_t frame = 300; frame < lost.size(); ++frame) {
      const Nanos now = static_cast<int64_t>(frame) * kFrameTime + 7 * kMillisecond;
      const auto packet = static_cast<int>((now - kOnWay - line.delay[frame]) / kFrameTime);
      REQUIRE(line.delay[frame] == line.delay[300]);
      source.arrive(packet, now);
      Frame expected(kNarrowband);
      const RtpTicks frame_ticks(kFrameSamples);
      const RtpTime newest = source.store.end() - frame_ticks;
      g711_decode(G711Law::mu, source.store.run_at(newest, frame_ticks).part.payload, expected);
      if (lost[static_cast<size_t>(packet)]) {
        concealer.conceal(expected);
      } else {
        concealer.receive(expected);
      }
      if (frame < 310) continue;  // until both have the same state
      const auto heard = line.heard.begin() + static_cast<std::ptrdiff_t>(frame * kFrameSamples);
      CHECK(std::equal(expected.begin(), expected.end(), heard));
    }
  }

  TEST_CASE("5 ms of jitter: no late packet with a delay of at most 40 ms") {
    Line line;
    std::mt19937 random(1);
    line.run(1000,
             [&](int) { return 30 * kMillisecond + static_cast<int64_t>(random() % 5000) * kMicrosecond; });
    CHECK(line.playout.counters().late_packets == 0);
    CHECK(*std::max_element(line.delay.begin() + 250, line.delay.end()) <= 40 * kMillisecond);
  }

  TEST_CASE("60 ms of jitter: the delay grows until few packets are late, and falls again without jitter") {
    Line line;
    std::mt19937 random(2);
    line.run(1500,
             [&](int) { return 30 * kMillisecond + static_cast<int64_t>(random() % 60) * kMillisecond; });
    const uint64_t late = line.playout.counters().late_packets;
    CHECK(late < 60);
    CHECK(line.delay.back() >= 50 * kMillisecond);
    CHECK(line.delay.back() <= 120 * kMillisecond);
  }

  TEST_CASE("a stall of 500 ms: the first frame after it plays within 60 ms, and the delay does not stay") {
    Line line;
    line.run(400, [](int i) -> Nanos {
      const bool stalled = i >= 100 && i < 125;
      return stalled ? (125 - i) * kFrameTime + 30 * kMillisecond : 30 * kMillisecond;
    });
    CHECK(line.playout.counters().resyncs == 0);
    CHECK(line.delay.back() <= 60 * kMillisecond);
    const std::span<const Sample> after(line.heard.data() + 130 * kFrameSamples, 200 * kFrameSamples);
    CHECK(test::sine_snr_db(after, 400, kLineRate) > 20);
  }

  TEST_CASE("a stall of this machine: the audio continues with the usual delay, also if it was the start") {
    for (const int begin : {0, 100}) {
      for (const int frames : {15, 30, 75}) {
        CAPTURE(begin);
        CAPTURE(frames);
        Line line;
        line.stalls_at = begin;
        line.stalled_for = frames;
        line.run(begin + frames + 200, [](int) { return 30 * kMillisecond; });
        const auto settled = static_cast<size_t>(begin) + 50;
        for (size_t i = settled; i < line.delay.size(); ++i) CHECK(line.delay[i] <= 60 * kMillisecond);
        const std::span<const Sample> after(line.heard.data() + settled * kFrameSamples, 60 * kFrameSamples);
        CHECK(test::sine_snr_db(after, 400, kLineRate) > 20);
      }
    }
  }

  TEST_CASE("conceals two percent of loss without interrupting the tone") {
    Line line;
    std::mt19937 random(3);
    line.run(1000, [&](int) -> std::optional<Nanos> {
      if (random() % 50 == 0) return std::nullopt;
      return 30 * kMillisecond;
    });
    CHECK(line.playout.counters().concealed > SampleCount(10 * kFrameSamples));
    CHECK(line.playout.counters().concealed < SampleCount(40 * kFrameSamples));
    const std::span<const Sample> tail(line.heard.data() + 100 * kFrameSamples, 800 * kFrameSamples);
    CHECK(test::sine_snr_db(tail, 400, kLineRate) > 15);
  }

  TEST_CASE("limits the delay for ten minutes with a clock 200 ppm fast or slow") {
    for (const double drift : {200e-6, -200e-6}) {
      Line line;
      line.run(30'000, [&](int i) {
        return 100 * kMillisecond + nanos_of(drift * static_cast<double>(i), kFrameTime);
      });
      CHECK(line.playout.counters().late_packets < 30);
      CHECK(*std::max_element(line.delay.begin() + 100, line.delay.end()) <= 160 * kMillisecond);
    }
  }

  TEST_CASE("starts a talkspurt after a pause with the currently wanted delay, and plays it completely") {
    Line line;
    // Two seconds with 100 ms of jitter, one second without jitter in which the tone has no pause to shorten,
    // and 0.5 s without packets.
    std::mt19937 random(6);
    std::vector<Nanos> way;
    for (int i = 0; i < 150; ++i) {
      way.push_back(30 * kMillisecond +
                    (i < 100 ? static_cast<int64_t>(random() % 100) * kMillisecond : Nanos{}));
    }
    line.run(400, [&](int i) -> std::optional<Nanos> {
      if (i < 150) return way[static_cast<size_t>(i)];
      if (i < 175) return std::nullopt;
      return 30 * kMillisecond;
    });
    CHECK(line.delay[149] > 60 * kMillisecond);
    CHECK(line.delay[190] >= line.target[176]);
    CHECK(line.delay[190] <= line.target[176] + kFrameTime);
    const std::span<const Sample> spurt(line.heard.data() + 185 * kFrameSamples, 200 * kFrameSamples);
    CHECK(test::sine_snr_db(spurt, 400, kLineRate) > kCodedSnr);
  }

  TEST_CASE("follows a path that becomes 400 ms slower permanently") {
    Line line;
    bool lost_track = false;
    line.run(300, [&](int i) -> Nanos { return i < 100 ? 30 * kMillisecond : 430 * kMillisecond; });
    lost_track = line.playout.lost_track();
    CHECK(lost_track);
  }
}

}  // namespace carillon
