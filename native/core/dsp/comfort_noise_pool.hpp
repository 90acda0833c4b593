// Generators of comfort noise for the decoders of all threads.
#pragma once

#include <cstdint>
#include <memory>

#include "core/dsp/comfort_noise.hpp"

namespace carillon {

/// A decoder takes a generator when its first comfort noise begins and returns it after the noise has ended,
/// because few streams have any. The pool has a fixed capacity, so that media threads do not allocate. The
/// system provides its memory when it is first used.
class ComfortNoisePool {
 public:
  static constexpr uint32_t kCapacity = 16'384;

  struct GiveBack {
    void operator()(ComfortNoise* noise) const noexcept { give_back(noise); }
  };
  using Lease = std::unique_ptr<ComfortNoise, GiveBack>;
  /// Returns null if all generators are in use. The stream is then silent.
  [[nodiscard]] static Lease take() noexcept;

 private:
  static void give_back(ComfortNoise* noise) noexcept;
};

}  // namespace carillon
