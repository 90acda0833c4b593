#include "core/jitter/arrival_reader.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "test/support/narrow.hpp"

namespace carillon {

namespace {

/// Reader of G.711 packets of 20 ms.
struct Arrivals {
  Arrivals() : store(RtpClockRate(8000), 8000), reader(make_decoder({})) {}

  ArrivalReader::Packet stored(int64_t number) {
    std::vector<uint8_t> payload(kFrameSamples, static_cast<uint8_t>(number));
    const RtpTime time(1'000'000 + number * static_cast<int64_t>(kFrameSamples));
    store.write(time, RtpTicks(kFrameSamples), Coding::pcmu, payload);
    return {number, time, RtpTicks(kFrameSamples), kSecond + number * kFrameTime, false};
  }

  /// Begins with packet 100.
  void begin() { reader.begin(stored(100), store, 0, kNarrowband, kNarrowband); }

  /// Reads what is ready after the arrival of a packet. Returns false if the reader refuses the packet.
  bool arrives(int64_t number, Nanos now) {
    ArrivalReader::Packet packet = stored(number);
    packet.arrival = now;
    const bool accepted = reader.arrived(packet);
    pieces(now);
    return accepted;
  }

  /// Returns the number of pieces with audio that are ready.
  int pieces(Nanos now) {
    int count = 0;
    Frame frame(kNarrowband);
    while (const auto piece = reader.next(now, store, kNarrowband, frame)) {
      if (piece->kind == ArrivalReader::Kind::audio) ++count;
    }
    return count;
  }

  PayloadStore store;
  ArrivalReader reader;
};

}  // namespace

TEST_SUITE("arrival reader") {
  TEST_CASE("reads a packet once that arrives twice while an earlier one is missing") {
    Arrivals arrivals;
    const ArrivalReader::Packet first = arrivals.stored(100);
    arrivals.reader.begin(first, arrivals.store, 0, kNarrowband, kNarrowband);
    CHECK(arrivals.reader.arrived(first));
    CHECK(arrivals.pieces(first.arrival) == 1);
    const ArrivalReader::Packet third = arrivals.stored(102);
    CHECK(arrivals.reader.arrived(third));
    CHECK(arrivals.reader.arrived(third));
    CHECK(arrivals.pieces(third.arrival + kSecond) == 1);
    CHECK(arrivals.reader.due() == std::nullopt);
  }

  TEST_CASE("accepts a stream in which every tenth packet arrives 200 ms late") {
    Arrivals arrivals;
    arrivals.begin();
    constexpr int kLate = 10;
    int refused = 0;
    for (int number = 101; number < 1000; ++number) {
      const Nanos now = kSecond + number * kFrameTime;
      const bool is_late = number % kLate == 0;
      if (!is_late) refused += arrivals.arrives(number, now) ? 0 : 1;
      if (is_late && number > 100 + kLate) refused += arrivals.arrives(number - kLate, now) ? 0 : 1;
    }
    CHECK(refused == 0);
  }

  TEST_CASE("accepts a stream of a sender whose clock is 0.5 percent fast, but not one at twice its rate") {
    Arrivals arrivals;
    arrivals.begin();
    int refused = 0;
    Nanos now = kSecond + 100 * kFrameTime;
    int number = 101;
    for (; number < 5000; ++number) {
      now += kFrameTime * 995 / 1000;
      refused += arrivals.arrives(number, now) ? 0 : 1;
    }
    CHECK(refused == 0);
    for (; number < 5100; ++number) {
      now += kFrameTime / 2;
      refused += arrivals.arrives(number, now) ? 0 : 1;
    }
    CHECK(refused > 0);
  }
}

}  // namespace carillon
