#include "core/base/huge_page_pool.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace carillon {

TEST_SUITE("huge page pool") {
  TEST_CASE("places are aligned, do not overlap, and hold what is written, beyond the first block") {
    constexpr size_t kBytes = 100'001;
    constexpr size_t kPlaces = 3 * (HugePagePool::kBlockBytes / kBytes);
    HugePagePool pool(kBytes);
    std::vector<uint8_t*> places;
    for (size_t i = 0; i < kPlaces; ++i) {
      places.push_back(static_cast<uint8_t*>(pool.take()));
      CHECK(reinterpret_cast<uintptr_t>(places.back()) % alignof(std::max_align_t) == 0);
      std::memset(places.back(), static_cast<int>(i), kBytes);
    }
    for (size_t i = 0; i < kPlaces; ++i) {
      CHECK(places[i][0] == static_cast<uint8_t>(i));
      CHECK(places[i][kBytes - 1] == static_cast<uint8_t>(i));
    }
    for (uint8_t* const place : places) pool.give_back(place);
  }

  TEST_CASE("what was given back is taken again before there is a new block") {
    HugePagePool pool(1'000'000);
    std::set<void*> first{pool.take(), pool.take()};
    for (void* const place : first) pool.give_back(place);
    const std::set<void*> again{pool.take(), pool.take()};
    CHECK(again == first);
    CHECK(first.count(pool.take()) == 0);
  }
}

}  // namespace carillon
