#include <doctest/doctest.h>

#include "fuzz/targets.hpp"
#include "test/support/rounds.hpp"

namespace carillon::fuzz {

/// Short and deterministic; `npm run fuzz` uses other seeds.
TEST_SUITE("fuzz targets") {
  TEST_CASE("every target processes mutated corpus inputs without a fault") {
    const int runs = test::rounds(150, 3000);
    for (const Target& target : targets()) {
      CAPTURE(target.name);
      const std::vector<Input> seeds = corpus_of(target.name);
      REQUIRE(seeds.size() > 1);
      Mutator mutator(7);
      for (const Input& seed : seeds) target.run(seed);
      for (int run = 0; run < runs; ++run) target.run(mutator.next(seeds));
    }
  }

  TEST_CASE("the same seed produces the same inputs") {
    const std::vector<Input> seeds{{1, 2, 3, 4, 5, 6, 7, 8}};
    Mutator one(3);
    Mutator two(3);
    for (int i = 0; i < 100; ++i) CHECK(one.next(seeds) == two.next(seeds));
  }
}

}  // namespace carillon::fuzz
