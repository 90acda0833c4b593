#include "core/record/recording_timeline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/codec/g711.hpp"
#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

using TrackSide = RecordingTimeline::Side;

/// Adds a slot per 20 ms with packets of constant level from both peers.
struct Recorded {
  explicit Recorded(bool hears = true, bool says = true) : timeline(kNarrowband, hears, says) {}

  void packet(TrackSide side, Sample level) {
    const std::vector<uint8_t> octets(kFrameSamples, g711_encode(G711Law::mu, level));
    int64_t& number = side == TrackSide::received ? received_number : far_number;
    ReceivedPacket packet;
    packet.sequence = ++number;
    packet.timestamp = RtpTimestamp(static_cast<uint32_t>(number * 160));
    packet.arrival = now;
    packet.payload = octets;
    timeline.take(side, packet);
  }
  void slot(Sample own, bool far_end_heard) {
    const std::vector<Sample> audio(own == 0 ? 0 : kFrameSamples, own);
    timeline.add(narrow(audio), far_end_heard, now);
    collect(false);
    now += kFrameTime;
  }
  void collect(bool ends) {
    while (const auto* sides = timeline.next(ends)) {
      received.push_back(sides->received[100]);
      sent.push_back(sides->sent[100]);
    }
  }

  RecordingTimeline timeline;
  Nanos now = 5 * kSecond;
  int64_t received_number = 0;
  int64_t far_number = 0;
  std::vector<Sample> received;
  std::vector<Sample> sent;
};

bool near(Sample value, int expected) { return std::abs(value - expected) < 150; }

}  // namespace

TEST_CASE("recording timeline: combines both peers and the audio of this node at their times") {
  Recorded recorded;
  for (int i = 0; i < 200; ++i) {
    recorded.packet(TrackSide::received, 1000);
    recorded.packet(TrackSide::far_end, 4000);
    // A prompt from the second second on; the far end is heard until the third.
    recorded.slot(i >= 50 && i < 150 ? 8000 : 0, i < 100);
  }
  CHECK(recorded.sent.size() == 150);
  recorded.collect(true);
  REQUIRE(recorded.sent.size() == 200);
  for (size_t i = 2; i < 200; ++i) {
    CAPTURE(i);
    const int own = i >= 50 && i < 150 ? 8000 : 0;
    CHECK(near(recorded.received[i], 1000));
    CHECK(near(recorded.sent[i], own + (i < 100 ? 4000 : 0)));
  }
}

TEST_CASE("recording timeline: records silence for slots that the media thread missed") {
  Recorded recorded;
  for (int i = 0; i < 100; ++i) recorded.slot(8000, false);
  CHECK(recorded.timeline.missed(recorded.now) == 0);
  // A late visit is made up, so it is not a gap.
  CHECK(recorded.timeline.missed(recorded.now + 70 * kMillisecond) == 0);
  recorded.now += 400 * kMillisecond;
  int missed = recorded.timeline.missed(recorded.now);
  CHECK(missed == 20);
  for (; missed > 0; --missed) {
    recorded.timeline.add(narrow({}), false, recorded.now);
    recorded.collect(false);
  }
  CHECK(recorded.timeline.missed(recorded.now) == 0);
  CHECK(recorded.timeline.missed(recorded.now + 3600 * kSecond) == RecordingTimeline::kMaxMissed);
  for (int i = 0; i < 10; ++i) recorded.slot(8000, false);
  recorded.collect(true);
  CHECK(recorded.sent.size() == 130);
  CHECK(std::ranges::count(recorded.sent, Sample{0}) == 20);
}

TEST_CASE("recording timeline: records all packets that arrived during a stall of the media thread") {
  for (const int stalled : {35, 75, 100}) {
    CAPTURE(stalled);
    Recorded recorded;
    const auto run = [&](int slots) {
      for (int i = 0; i < slots; ++i) {
        recorded.packet(TrackSide::received, 1000);
        recorded.packet(TrackSide::far_end, 4000);
        recorded.slot(0, true);
      }
    };
    run(100);
    const Nanos begin = recorded.now;
    for (const TrackSide side : {TrackSide::received, TrackSide::far_end}) {
      recorded.now = begin;
      for (int i = 0; i < stalled; ++i, recorded.now += kFrameTime)
        recorded.packet(side, side == TrackSide::received ? 1000 : 4000);
    }
    while (const int missed = recorded.timeline.missed(recorded.now)) {
      for (int i = 0; i < missed; ++i) {
        recorded.timeline.add(narrow({}), recorded.timeline.far_end_heard(), recorded.now);
        recorded.collect(false);
      }
    }
    run(100);
    recorded.collect(true);
    REQUIRE(recorded.received.size() == 200 + static_cast<size_t>(stalled));
    for (size_t i = 2; i < recorded.received.size(); ++i) {
      CAPTURE(i);
      CHECK(near(recorded.received[i], 1000));
      CHECK(near(recorded.sent[i], 4000));
    }
  }
}

TEST_CASE("recording timeline: after a pause, continues with the audio of the present") {
  Recorded recorded;
  for (int i = 0; i < 100; ++i) {
    recorded.packet(TrackSide::received, 1000);
    recorded.slot(0, true);
  }
  recorded.collect(true);
  recorded.timeline.restart();
  for (int i = 0; i < 500; ++i) {
    recorded.packet(TrackSide::received, 2000);
    recorded.now += kFrameTime;
  }
  for (int i = 0; i < 100; ++i) {
    recorded.packet(TrackSide::received, 4000);
    recorded.slot(0, true);
  }
  recorded.collect(true);
  REQUIRE(recorded.received.size() == 200);
  for (size_t i = 2; i < 200; ++i) {
    CAPTURE(i);
    if (i != 100) CHECK(near(recorded.received[i], i < 100 ? 1000 : 4000));
  }
}

TEST_CASE("recording timeline: leaves out a side that is not recorded") {
  Recorded received(true, false);
  Recorded sent(false, true);
  for (Recorded* const recorded : {&received, &sent}) {
    for (int i = 0; i < 60; ++i) {
      recorded->packet(TrackSide::received, 1000);
      recorded->packet(TrackSide::far_end, 1000);
      recorded->slot(3000, true);
    }
    recorded->collect(true);
  }
  CHECK(near(received.received[30], 1000));
  CHECK(received.sent[30] == 0);
  CHECK(sent.received[30] == 0);
  CHECK(near(sent.sent[30], 4000));
}

}  // namespace carillon
