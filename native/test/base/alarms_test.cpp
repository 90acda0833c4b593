#include "core/base/alarms.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace carillon {

TEST_SUITE("alarms") {
  TEST_CASE("returns the earliest alarm after any sequence of set, move, clear and take") {
    constexpr uint32_t owners = 50;
    std::mt19937 random(5);
    Alarms alarms(owners);
    std::map<uint32_t, Nanos> expected;
    const auto earliest = [&] {
      std::optional<Nanos> first;
      for (const auto& [owner, at] : expected) first = std::min(first.value_or(at), at);
      return first;
    };
    for (int step = 0; step < 20'000; ++step) {
      const auto owner = static_cast<uint32_t>(random() % owners);
      const Nanos at(static_cast<int64_t>(random() % 1000));
      switch (random() % 4) {
        case 0:
          alarms.clear(owner);
          expected.erase(owner);
          break;
        case 1:
          if (const auto due = alarms.take_due(at)) {
            CHECK(expected[*due] == earliest());
            CHECK(expected[*due] <= at);
            expected.erase(*due);
          } else {
            CHECK(earliest().value_or(at + Nanos(1)) > at);
          }
          break;
        default:
          alarms.set(owner, at);
          expected[owner] = at;
      }
      CHECK(alarms.next() == earliest());
    }
  }
}

}  // namespace carillon
