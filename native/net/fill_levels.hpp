// Reports when a queue reaches 30, 60 or 90 percent. Each level is reported once, and again only after the
// queue has fallen well below it.
#pragma once

#include <array>
#include <cstddef>

namespace carillon {

class FillLevels {
 public:
  /// Calls `report(percent)` for each newly reached level.
  template <typename Report>
  void changed(unsigned before, unsigned after, Report report) {
    constexpr std::array<unsigned, 3> kLevels{30, 60, 90};
    constexpr unsigned kHysteresis = 10;
    for (size_t i = 0; i < kLevels.size(); ++i) {
      if (before + kHysteresis < kLevels[i]) reported_[i] = false;
      if (after < kLevels[i] || reported_[i]) continue;
      reported_[i] = true;
      report(kLevels[i]);
    }
  }

 private:
  std::array<bool, 3> reported_{};
};

}  // namespace carillon
