#include "engine/arrival_clock.hpp"

#include <doctest/doctest.h>

namespace carillon {

namespace {

constexpr Nanos kBegin = 1000 * kSecond;

/// Returns a clock after `packets` packets with the given interval.
ArrivalClock after(int packets, Nanos interval) {
  ArrivalClock clock;
  for (int i = 0; i < packets; ++i) clock.arrived(kBegin + i * interval);
  return clock;
}

}  // namespace

TEST_SUITE("arrival clock") {
  TEST_CASE("knows the packet time of a regular peer after half a second") {
    for (const int ms : {10, 20, 30, 40, 60}) {
      CAPTURE(ms);
      const Nanos interval = ms * kMillisecond;
      CHECK_FALSE(after(20, interval).steady());
      const ArrivalClock clock = after(30, interval);
      CHECK(clock.steady());
      CHECK(clock.next() == kBegin + 30 * interval);
    }
  }

  TEST_CASE("does not shift the prediction because of a delayed packet") {
    ArrivalClock clock = after(30, 20 * kMillisecond);
    clock.arrived(clock.next() + 2 * kMillisecond);
    CHECK(clock.steady());
    const Nanos due = kBegin + 31 * 20 * kMillisecond;
    CHECK(clock.next() > due);
    CHECK(clock.next() - due < kMillisecond / 4);
  }

  TEST_CASE("follows a peer whose clock is slow or fast") {
    for (const int drift_us : {-4, 4}) {
      ArrivalClock clock = after(30, 20 * kMillisecond);
      const Nanos interval = 20 * kMillisecond + drift_us * kMicrosecond;
      Nanos at = clock.next();
      for (int i = 0; i < 5000; ++i, at += interval) clock.arrived(at);
      CHECK(clock.steady());
      CHECK(abs(clock.next() - at) < kMicrosecond * 100);
    }
  }

  TEST_CASE("stays steady with few lost packets, but not with many or with unexpected packets") {
    ArrivalClock clock = after(30, 20 * kMillisecond);
    clock.arrived(clock.next() + 4 * 20 * kMillisecond);
    CHECK(clock.steady());
    CHECK(clock.next() == kBegin + 35 * 20 * kMillisecond);
    clock.arrived(clock.next() + 7 * kMillisecond);
    CHECK_FALSE(clock.steady());
    ArrivalClock silent = after(30, 20 * kMillisecond);
    silent.arrived(silent.next() + 3 * kSecond);
    CHECK_FALSE(silent.steady());
  }
}

}  // namespace carillon
