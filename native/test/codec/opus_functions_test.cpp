// Replacements of libopus functions produce identical results.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <vector>

#ifdef __x86_64__

extern "C" {
using WarpedAutocorrelation = void(float* corr, const float* input, float warping, int length, int order);
WarpedAutocorrelation silk_warped_autocorrelation_FLP;
WarpedAutocorrelation silk_warped_autocorrelation_plain;
}

namespace carillon {

TEST_SUITE("libopus functions") {
  TEST_CASE("computes warped autocorrelation bit-exactly") {
    std::mt19937 random(5);
    std::normal_distribution<float> sample(0, 3000);
    for (int order = 2; order <= 24; order += 2) {
      for (const int length : {1, 3, 80, 120, 180, 240}) {
        std::vector<float> input(static_cast<size_t>(length));
        for (float& value : input) value = sample(random);
        std::array<float, 25> ours{};
        std::array<float, 25> theirs{};
        for (const float warping : {0.12F, 0.2F, -0.3F}) {
          silk_warped_autocorrelation_FLP(ours.data(), input.data(), warping, length, order);
          silk_warped_autocorrelation_plain(theirs.data(), input.data(), warping, length, order);
          CHECK(ours == theirs);
        }
      }
    }
  }
}

}  // namespace carillon

#endif
