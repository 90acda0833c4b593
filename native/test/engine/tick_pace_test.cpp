#include "engine/tick_pace.hpp"

#include <doctest/doctest.h>

#include <map>

namespace carillon {

namespace {

/// Thread whose ticks each cost `cost`, on a clock that only the ticks and its sleep advance.
class Worker {
 public:
  explicit Worker(Nanos cost) : cost_(cost) { pace.begin(now); }

  /// Sleeps until the next tick, then runs the due ticks.
  void turn() {
    now = std::max(now, pace.at());
    given_up += pace.give_up(now);
    const int64_t before = ticks;
    pace.run([this] { return now; }, [this](Nanos due, Nanos at) { tick(due, at); });
    CHECK(ticks - before <= TickPace::kAtOnce);
  }
  void turns_until(Nanos end) {
    while (now < end) turn();
  }
  [[nodiscard]] Nanos late() const { return now - pace.due(); }

  TickPace pace;
  Nanos now = kSecond;
  int64_t ticks = 0;
  int64_t given_up = 0;
  Nanos least_gap = Nanos::max();
  Nanos latest{};

 private:
  void tick(Nanos due, Nanos at) {
    CHECK(due <= at);
    const int64_t slot = due / kTick % kFrameMs;
    if (visited_.contains(slot)) least_gap = std::min(least_gap, at - visited_[slot]);
    visited_[slot] = at;
    latest = std::max(latest, at - due);
    ++ticks;
    now += cost_;
  }

  Nanos cost_;
  std::map<int64_t, Nanos> visited_;
};

}  // namespace

TEST_SUITE("tick pace") {
  TEST_CASE("runs each tick on time") {
    Worker worker(100 * kMicrosecond);
    worker.turns_until(2 * kSecond);
    CHECK(worker.ticks == 1000);
    CHECK(worker.latest == Nanos{});
    CHECK(worker.least_gap == kFrameTime);
  }

  TEST_CASE("is on time again after a stall, even with 97 % load") {
    Worker worker(970 * kMicrosecond);
    worker.turns_until(2 * kSecond);
    worker.now += 15 * kMillisecond;
    worker.turns_until(3 * kSecond);
    CHECK(worker.late() < kTick);
    CHECK(worker.given_up == 0);
    CHECK(worker.least_gap >= TickPace::kLeastGap);
  }

  TEST_CASE("does not visit a leg twice in quick succession after a stall of three frames") {
    Worker worker(10 * kMicrosecond);
    worker.turns_until(2 * kSecond);
    worker.now += 60 * kMillisecond;
    const Nanos end = worker.now;
    worker.turns_until(end + 20 * kMillisecond);
    CHECK(worker.given_up == 0);
    CHECK(worker.least_gap >= TickPace::kLeastGap);
    CHECK(worker.least_gap < 2 * TickPace::kLeastGap);
    CHECK(worker.late() < kTick);
  }

  TEST_CASE("keeps up on a machine that wakes the thread 6 ms late each time") {
    Worker worker(10 * kMicrosecond);
    while (worker.now < 2 * kSecond) {
      worker.now = std::max(worker.now, worker.pace.at()) + 6 * kMillisecond;
      worker.turn();
    }
    CHECK(worker.given_up == 0);
    CHECK(worker.latest < 8 * kMillisecond);
  }

  TEST_CASE("skips and counts ticks that are too late") {
    Worker worker(10 * kMicrosecond);
    worker.turns_until(2 * kSecond);
    worker.now += (TickPace::kMaxBehind + 2) * kTick;
    worker.turn();
    CHECK(worker.given_up > TickPace::kMaxBehind);
    CHECK(worker.late() < kTick);
    CHECK(worker.ticks + worker.given_up == (worker.pace.due() - kSecond) / kTick - 1);
  }

  TEST_CASE("passes ticks at rest without running them") {
    Worker worker(10 * kMicrosecond);
    worker.now += 500 * kMillisecond;
    CHECK(worker.pace.pass(worker.now) == 499);
    worker.turn();
    CHECK(worker.ticks == 1);
    CHECK(worker.pace.pass(worker.now) == 0);
  }
}

}  // namespace carillon
