#include <doctest/doctest.h>

#include "fuzz/targets.hpp"

namespace carillon::fuzz {

/// Short and always the same; `npm run fuzz` goes on with other seeds.
TEST_SUITE("bytes of strangers") {
  TEST_CASE("any change of what is in the corpus is read to its end") {
    constexpr int kRuns = 300;
    for (const Target& target : targets()) {
      CAPTURE(target.name);
      const std::vector<Input> seeds = corpus_of(target.name);
      REQUIRE(seeds.size() > 1);
      Mutator mutator(7);
      for (const Input& seed : seeds) target.run(seed);
      for (int run = 0; run < kRuns; ++run) target.run(mutator.next(seeds));
    }
  }

  TEST_CASE("the same seed makes the same inputs") {
    const std::vector<Input> seeds{{1, 2, 3, 4, 5, 6, 7, 8}};
    Mutator one(3);
    Mutator two(3);
    for (int i = 0; i < 100; ++i) CHECK(one.next(seeds) == two.next(seeds));
  }
}

}  // namespace carillon::fuzz
