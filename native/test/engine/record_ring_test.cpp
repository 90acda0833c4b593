#include "engine/record_ring.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

namespace carillon {

TEST_SUITE("record ring") {
  TEST_CASE("delivers the records of several producers completely, each producer's in order") {
    constexpr uint32_t kProducers = 3;
    constexpr uint32_t kRecords = 20'000;
    RecordRing ring(size_t{64} << 10);
    std::array<std::thread, kProducers> producers;
    for (uint32_t who = 0; who < kProducers; ++who) {
      producers[who] = std::thread([&ring, who] {
        for (uint32_t i = 0; i < kRecords; ++i) {
          const std::vector<uint8_t> payload(i % 300, static_cast<uint8_t>(i));
          while (!ring.put({static_cast<uint8_t>(who + 1), 0, 0, i}, payload)) std::this_thread::yield();
        }
      });
    }
    std::array<uint32_t, kProducers> next{};
    std::vector<uint8_t> batch(3000);
    bool whole = true;
    for (uint32_t seen = 0; seen < kProducers * kRecords;) {
      const size_t bytes = ring.take(batch);
      for_each_record(std::span(batch).first(bytes), [&](const Record& record, std::span<uint8_t> payload) {
        const uint32_t i = next[record.type - 1U]++;
        whole = whole && record.handle == i && payload.size() == i % 300;
        for (const uint8_t byte : payload) whole = whole && byte == static_cast<uint8_t>(i);
        ++seen;
      });
      if (bytes == 0) std::this_thread::yield();
    }
    for (std::thread& producer : producers) producer.join();
    CHECK(whole);
    CHECK(ring.empty());
  }

  TEST_CASE("delivers a record after another one that its producer had seen") {
    RecordRing ring(4096);
    std::vector<uint8_t> batch(4096);
    std::atomic<uint32_t> turn{0};
    constexpr uint32_t kTurns = 4000;
    const auto produce = [&](uint32_t mine) {
      for (uint32_t i = mine; i < kTurns; i += 2) {
        while (turn.load(std::memory_order_acquire) != i) std::this_thread::yield();
        while (!ring.put({1, 0, 0, i}, {})) std::this_thread::yield();
        turn.store(i + 1, std::memory_order_release);
      }
    };
    std::thread even(produce, 0);
    std::thread odd(produce, 1);
    uint32_t expected = 0;
    bool in_order = true;
    while (expected < kTurns) {
      const size_t bytes = ring.take(batch);
      for_each_record(std::span(batch).first(bytes), [&](const Record& record, std::span<uint8_t>) {
        in_order = in_order && record.handle == expected;
        ++expected;
      });
    }
    even.join();
    odd.join();
    CHECK(in_order);
  }
}

}  // namespace carillon
