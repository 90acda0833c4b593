// Allocates leg handles of one media thread. The low bits are an index unique among live legs, followed by
// the thread number and a generation. Handles are thus unique within the engine.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/media_core.hpp"

namespace carillon {

class LegHandles {
 public:
  static constexpr size_t kMaxThreads = 64;

  explicit LegHandles(size_t thread)
      : thread_(static_cast<uint32_t>(thread) * MediaCore::kMaxLegs), generations_(MediaCore::kMaxLegs, 0) {
    for (uint32_t i = 0; i < MediaCore::kMaxLegs; ++i) free_.push_back(i);
  }

  /// Returns nullopt if kMaxLegs handles are in use.
  std::optional<LegHandle> take() {
    if (free_.empty()) return std::nullopt;
    const uint32_t index = free_.front();
    free_.pop_front();
    uint32_t& generation = generations_[index];
    generation = (generation + 1) & kGenerationMask;
    if (generation == 0) generation = 1;  // a handle is never 0
    return LegHandle(generation * kGeneration + thread_ + index);
  }
  /// The index that was unused longest is reused first, so that stale handles stay invalid for long.
  void give_back(LegHandle handle) { free_.push_back(MediaCore::index_of(handle)); }

 private:
  static constexpr uint32_t kGeneration = MediaCore::kMaxLegs * kMaxThreads;
  /// The top bit of a leg handle is always 0.
  static constexpr uint32_t kGenerationMask = 0x8000'0000U / kGeneration - 1;
  uint32_t thread_;
  std::deque<uint32_t> free_;
  std::vector<uint32_t> generations_;
};

}  // namespace carillon
