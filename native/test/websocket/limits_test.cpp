// Tests the limits for bots that read too slowly or send too fast.
#include <doctest/doctest.h>

#include <string>

#include "core/base/frame.hpp"
#include "core/websocket/flood_meter.hpp"
#include "core/websocket/send_queue.hpp"
#include "net/fill_levels.hpp"

namespace carillon {

namespace {

Bytes bytes_in(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

std::vector<std::string> drain(SendQueue& send_queue) {
  std::vector<std::string> out;
  while (const auto item = send_queue.take()) out.emplace_back(item->payload.begin(), item->payload.end());
  return out;
}

}  // namespace

TEST_SUITE("send queue") {
  TEST_CASE("drops the oldest media and keeps control messages and the order") {
    SendQueue send_queue({3, 1000});
    send_queue.put_media(bytes_in("m1"), {});
    CHECK(send_queue.put_control(Opcode::text, bytes_in("c1")));
    Nanos now{};
    for (const char* name : {"m2", "m3", "m4", "m5"}) send_queue.put_media(bytes_in(name), now += kFrameTime);
    CHECK(send_queue.dropped() == 2);
    CHECK(drain(send_queue) == std::vector<std::string>{"c1", "m3", "m4", "m5"});
  }

  TEST_CASE("keeps a burst that arrives together after a stall, up to a limit") {
    SendQueue send_queue({3, 1000});
    for (int i = 0; i < 12; ++i) send_queue.put_media(bytes_in("m"), kSecond);
    CHECK(send_queue.dropped() == 0);
    send_queue.put_media(bytes_in("m"), kSecond);
    CHECK(send_queue.dropped() == 1);
    // They have waited too long.
    send_queue.put_media(bytes_in("m"), 2 * kSecond);
    CHECK(send_queue.dropped() == 11);
  }

  TEST_CASE("limits control messages in bytes") {
    SendQueue send_queue({3, SendQueue::kItemBytes + 10});
    CHECK(send_queue.put_control(Opcode::text, bytes_in("123456")));
    CHECK_FALSE(send_queue.put_control(Opcode::text, bytes_in("12345")));
    CHECK(send_queue.take());
    CHECK(send_queue.put_control(Opcode::text, bytes_in("12345")));
  }

  TEST_CASE("counts the overhead of an empty message") {
    SendQueue send_queue({3, 10 * SendQueue::kItemBytes});
    for (int i = 0; i < 10; ++i) CHECK(send_queue.put_control(Opcode::ping, {}));
    CHECK_FALSE(send_queue.put_control(Opcode::ping, {}));
    CHECK(drain(send_queue).size() == 10);
    CHECK(send_queue.put_control(Opcode::ping, {}));
  }

  TEST_CASE("keeps only the last waiting pong (RFC 6455 §5.5.3)") {
    SendQueue send_queue({3, 4 * SendQueue::kItemBytes});
    CHECK(send_queue.put_control(Opcode::text, bytes_in("c1")));
    for (int i = 0; i < 10'000; ++i) CHECK(send_queue.put_control(Opcode::pong, bytes_in(std::to_string(i))));
    CHECK(send_queue.put_control(Opcode::text, bytes_in("c2")));
    CHECK(drain(send_queue) == std::vector<std::string>{"c1", "9999", "c2"});
    CHECK(send_queue.put_control(Opcode::pong, bytes_in("again")));
    CHECK(drain(send_queue) == std::vector<std::string>{"again"});
  }

  TEST_CASE("drops media and keeps the other messages") {
    SendQueue send_queue({3, 1000});
    send_queue.put_media(bytes_in("m1"), {});
    CHECK(send_queue.put_control(Opcode::pong, bytes_in("c1")));
    send_queue.put_media(bytes_in("m2"), {});
    send_queue.drop_media();
    CHECK(send_queue.dropped() == 2);
    CHECK(drain(send_queue) == std::vector<std::string>{"c1"});
  }

  TEST_CASE("reports each level once until the queue is empty") {
    SendQueue send_queue({10, 1000});
    std::vector<unsigned> reported;
    const auto put = [&](int count) {
      for (int i = 0; i < count; ++i) {
        send_queue.put_media(bytes_in("m"), i * kFrameTime);
        if (const unsigned percent = send_queue.newly_degraded()) reported.push_back(percent);
      }
    };
    put(20);
    CHECK(reported == std::vector<unsigned>{30, 60, 90});
    CHECK(send_queue.take());
    put(1);
    CHECK(reported.size() == 3);
    drain(send_queue);
    put(3);
    CHECK(reported == std::vector<unsigned>{30, 60, 90, 30});
  }

  TEST_CASE("reports all levels that one message crosses, and again only after a fall") {
    FillLevels levels;
    std::vector<unsigned> reported;
    const auto report = [&](unsigned percent) { reported.push_back(percent); };
    levels.changed(0, 95, report);
    CHECK(reported == std::vector<unsigned>{30, 60, 90});
    levels.changed(85, 95, report);
    CHECK(reported.size() == 3);
    levels.changed(75, 92, report);
    CHECK(reported == std::vector<unsigned>{30, 60, 90, 90});
  }
}

TEST_SUITE("flood meter") {
  using Verdict = FloodMeter::Verdict;
  constexpr FloodLimits kLimits{{10, 20}, {1'000'000, 1'000'000}, 3 * kSecond};

  TEST_CASE("accepts a burst, then pauses reading until the rate is met, and marks the first pause") {
    FloodMeter meter(kLimits);
    Nanos now = kSecond;
    for (int i = 0; i < 20; ++i) CHECK(meter.count(10, now) == Verdict::fine);
    CHECK(meter.count(10, now) == Verdict::first_rest);
    CHECK(meter.resting(now + 99 * kMillisecond));
    CHECK_FALSE(meter.resting(now + 100 * kMillisecond));
    now += 100 * kMillisecond;
    CHECK(meter.count(10, now) == Verdict::rest);
  }

  TEST_CASE("limits bytes like messages") {
    FloodMeter meter({{10, 20}, {1000, 2000}, 3 * kSecond});
    CHECK(meter.count(3000, kSecond) == Verdict::first_rest);
    CHECK(meter.resting(kSecond + 999 * kMillisecond));
    CHECK_FALSE(meter.resting(2 * kSecond));
  }

  TEST_CASE(
      "disconnects a bot that exceeds the rate after a total pause time, regardless of the number of "
      "checks") {
    for (const Nanos look : {kMillisecond, 5 * kMillisecond, 50 * kMillisecond}) {
      CAPTURE(look);
      FloodMeter meter(kLimits);
      Nanos now = kSecond;
      int messages = 0;
      for (Verdict verdict = Verdict::fine; verdict != Verdict::flooded && messages < 1000; ++messages) {
        verdict = meter.count(10, now);
        if (!meter.resting(now)) continue;
        while (meter.resting(now)) now += look;
        meter.go_on(now);
      }
      CHECK(now - kSecond >= 2900 * kMillisecond);
      CHECK(now - kSecond <= 3200 * kMillisecond);
      CHECK(messages <= 20 + 32);
    }
  }

  TEST_CASE("accepts a minute of speech sent as one burst of 20 ms frames with the service's limits") {
    FloodMeter meter({{1000, 6000}, {2.0 * 1024 * 1024, 32.0 * 1024 * 1024}, 30 * kSecond});
    for (int i = 0; i < 3000; ++i) CHECK(meter.count(1400, kSecond) == Verdict::fine);
  }
}

}  // namespace carillon
