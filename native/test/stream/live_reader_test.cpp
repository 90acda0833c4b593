#include "core/stream/live_reader.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "core/codec/g711_codec.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {

/// Peer and the reader of its packets.
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
  TEST_CASE("delivers silence every 20 ms from the start until the first packet arrives") {
    Live live;
    int frames = 0;
    for (Nanos at = kSecond; at <= 2 * kSecond; at += kMillisecond) frames += live.pump(at);
    CHECK(frames == 50);
  }

  TEST_CASE("delivers a packet when it arrives") {
    Live live;
    for (int i = 0; i < 10; ++i) {
      live.packet(i, kSecond + i * kFrameTime);
      CHECK(live.pump(kSecond + i * kFrameTime) == 1);
    }
  }

  TEST_CASE("waits at most 40 ms for a missing packet, then delivers all waiting packets immediately") {
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

  TEST_CASE("delivers silence in real time for a silent peer, and its next audio in time") {
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

  TEST_CASE("skips the time of a system suspend") {
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
