#include "core/dsp/comfort_noise_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "core/codec/codec.hpp"
#include "test/support/narrow.hpp"

namespace carillon {

namespace {

constexpr std::array<uint8_t, 1> kNoise{40};

std::vector<Sample> comfort_of(AudioDecoder& decoder) {
  std::vector<Sample> out(kFrameSamples);
  decoder.comfort(kNoise, out);
  return out;
}

bool is_silent(const std::vector<Sample>& audio) {
  return std::ranges::all_of(audio, [](Sample sample) { return sample == 0; });
}

}  // namespace

TEST_SUITE("comfort noise pool") {
  TEST_CASE("a decoder is silent while all generators are in use, and has noise again later") {
    std::vector<ComfortNoisePool::Lease> taken;
    while (ComfortNoisePool::Lease lease = ComfortNoisePool::take()) taken.push_back(std::move(lease));
    CHECK(taken.size() <= ComfortNoisePool::kCapacity);
    const auto decoder = make_decoder({});
    CHECK(is_silent(comfort_of(*decoder)));
    taken.pop_back();
    CHECK(!is_silent(comfort_of(*decoder)));
    CHECK(ComfortNoisePool::take() == nullptr);
    // The end of the noise returns the generator.
    std::vector<Sample> after(10 * kFrameSamples);
    decoder->end_comfort(after);
    CHECK(ComfortNoisePool::take() != nullptr);
  }

  TEST_CASE("threads never get the same generator") {
    std::vector<std::thread> threads;
    std::array<bool, 4> alone{};
    for (bool& result : alone) {
      threads.emplace_back([&result] {
        result = true;
        for (int i = 0; i < 20'000; ++i) {
          const auto one = ComfortNoisePool::take();
          const auto other = ComfortNoisePool::take();
          std::array<Sample, 8> out{};
          one->add(kNoise, out);
          result = result && one->active() && !other->active();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(alone == std::array{true, true, true, true});
  }
}

}  // namespace carillon
