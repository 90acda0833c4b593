#include "core/record/sample_ring.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <thread>
#include <vector>

using carillon::Sample;
using carillon::SampleRing;

TEST_CASE("sample ring: returns samples in order, across the wrap") {
  SampleRing ring(10);
  Sample next_in = 0;
  Sample next_out = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<Sample> in(7);
    std::iota(in.begin(), in.end(), next_in);
    REQUIRE(ring.push(in));
    next_in = static_cast<Sample>(next_in + 7);
    std::vector<Sample> out(10);
    REQUIRE(ring.pop(out) == 7);
    for (size_t i = 0; i < 7; ++i) CHECK(out[i] == next_out++);
  }
}

TEST_CASE("sample ring: stays unchanged if a push does not fit") {
  SampleRing ring(4);
  CHECK(ring.push(std::vector<Sample>{1, 2, 3}));
  CHECK(!ring.push(std::vector<Sample>{4, 5}));
  CHECK(ring.size() == 3);
  CHECK(ring.room() == 1);
  CHECK(ring.push(std::vector<Sample>{6}));
  std::vector<Sample> out(8);
  CHECK(ring.pop(out) == 4);
  CHECK(out[3] == 6);
  CHECK(ring.pop(out) == 0);
}

TEST_CASE("sample ring: accepts only empty pushes without capacity") {
  SampleRing ring(0);
  CHECK(ring.push({}));
  CHECK(!ring.push(std::vector<Sample>{1}));
}

TEST_CASE("sample ring: transfers samples between two threads without loss or reordering") {
  constexpr int kTotal = 200000;
  SampleRing ring(512);
  std::thread producer([&ring] {
    std::vector<Sample> block(160);
    for (int at = 0; at < kTotal; at += 160) {
      for (int i = 0; i < 160; ++i) block[static_cast<size_t>(i)] = static_cast<Sample>((at + i) % 30000);
      while (!ring.push(block)) std::this_thread::yield();
    }
  });
  int wrong = 0;
  std::vector<Sample> out(97);
  for (int at = 0; at < kTotal;) {
    const auto count = static_cast<int>(ring.pop(out));
    if (count == 0) std::this_thread::yield();
    for (int i = 0; i < count; ++i) wrong += out[static_cast<size_t>(i)] != (at + i) % 30000 ? 1 : 0;
    at += count;
  }
  producer.join();
  CHECK(wrong == 0);
}
