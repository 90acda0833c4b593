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
}

}  // namespace carillon
