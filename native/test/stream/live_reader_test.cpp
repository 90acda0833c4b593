#include "core/stream/live_reader.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "core/codec/g711_codec.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {

/// A peer and the reader that follows it.
struct Live {
  PayloadStore store{kG711Rates.clock, 8000};
  DelayEstimator delays{kG711Rates.clock};
  Nanos now = kSecond;
  LiveReader reader{make_decoder({}), kSecond};

  void packet(int64_t index, Nanos arrival) {
    const RtpTime timestamp(50'000 + index * static_cast<int64_t>(kFrameSamples));
    delays.observe(timestamp, arrival);
    store.write(timestamp, RtpTicks(kFrameSamples), Coding::pcmu,
                std::vector<uint8_t>(kFrameSamples, static_cast<uint8_t>(index + 1)));
  }
  int pump(Nanos at) {
    int frames = 0;
    Frame frame(kNarrowband);
    for (now = at; reader.next(now, store, delays, frame); ++frames) last = frame;
    return frames;
  }
  Frame last = kSilentFrame;
};

}  // namespace

TEST_SUITE("live reader") {
  TEST_CASE("silence from the start, a frame each 20 ms, until the first packet comes") {
    Live live;
    int frames = 0;
    for (Nanos at = kSecond; at <= 2 * kSecond; at += kMillisecond) frames += live.pump(at);
    CHECK(frames == 50);
  }

  TEST_CASE("a packet goes out when it comes") {
    Live live;
    for (int i = 0; i < 10; ++i) {
      live.packet(i, kSecond + i * kFrameTime);
      CHECK(live.pump(kSecond + i * kFrameTime) == 1);
    }
  }

  TEST_CASE(
      "a reordered packet is waited for, a lost one no longer than 40 ms; then all that waited goes at "
      "once") {
    Live live;
    for (int i = 0; i < 5; ++i) {
      live.packet(i, kSecond + i * kFrameTime);
      live.pump(kSecond + i * kFrameTime);
    }
    live.packet(6, kSecond + 6 * kFrameTime);
    CHECK(live.pump(kSecond + 6 * kFrameTime) == 0);
    live.packet(5, kSecond + 6 * kFrameTime + kMillisecond);
    CHECK(live.pump(kSecond + 6 * kFrameTime + kMillisecond) == 2);

    live.packet(9, kSecond + 9 * kFrameTime);
    CHECK(live.pump(kSecond + 9 * kFrameTime) == 0);
    live.packet(10, kSecond + 10 * kFrameTime);
    CHECK(live.pump(kSecond + 10 * kFrameTime) == 0);
    CHECK(live.pump(kSecond + 9 * kFrameTime + LiveReader::kGapWait) == 4);
  }

  TEST_CASE(
      "a peer that falls silent is heard as silence in real time, and what it sends then is in time again") {
    Live live;
    for (int i = 0; i < 5; ++i) {
      live.packet(i, kSecond + i * kFrameTime);
      live.pump(kSecond + i * kFrameTime);
    }
    const Nanos back = kSecond + 25 * kFrameTime;
    int frames = 0;
    for (Nanos at = kSecond + 5 * kFrameTime; at < back; at += kMillisecond) frames += live.pump(at);
    CHECK(frames >= 16);
    CHECK(frames <= 20);
    live.packet(25, back);
    frames += live.pump(back);
    frames += live.pump(back + LiveReader::kGapWait);
    CHECK(frames == 21);
  }

  TEST_CASE("after a sleep of the machine nothing is made up for") {
    for (const bool with_audio : {false, true}) {
      Live live;
      for (int i = 0; i < 5; ++i) {
        if (with_audio) live.packet(i, kSecond + i * kFrameTime);
        live.pump(kSecond + i * kFrameTime);
      }
      CHECK(live.pump(3600 * kSecond) <= 5);
      CHECK(live.reader.jumps() == 1);
      int frames = 0;
      for (Nanos at = 3601 * kSecond; at < 3602 * kSecond; at += kMillisecond) frames += live.pump(at);
      CHECK(frames >= 48);
      CHECK(frames <= 102);
    }
  }
}

}  // namespace carillon
