// Received audio of one leg by RTP timestamp: who reads it, and when, is not its business.
//
// G.711 is sample-accurate, so packets of any length (10-120 ms), repeated, overlapping or out of order, all
// become the same thing: samples at their place. A packet codec would put its decoder's output here in the
// same way.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/frame.hpp"
#include "core/base/prefetch.hpp"

namespace carillon {

class SampleStore {
 public:
  /// 512 ms: the largest playout delay (200 ms), the largest packet (120 ms), and room for a burst.
  static constexpr int64_t kCapacity = 4096;

  enum class Written : uint8_t {
    stored,
    too_old,  // before everything the store can still hold
    jumped,   // beyond it: the caller decides whether to restart
  };

  /// `timestamp` is extended (see unwrap.hpp). Samples between the newest so far and `timestamp` are missing.
  Written write(int64_t timestamp, std::span<const Sample> samples);

  /// Declares the samples from end() up to `timestamp` to be silence that the sender chose not to send.
  void fill_silence_until(int64_t timestamp);

  /// The longest stretch from `timestamp` on, at most `limit`, that is wholly there or wholly missing.
  struct Run {
    size_t count;
    bool present;
  };
  [[nodiscard]] Run run_at(int64_t timestamp, size_t limit) const;
  [[nodiscard]] bool complete(int64_t timestamp, size_t count) const;

  /// Copies samples that run_at declared present.
  void copy(int64_t timestamp, std::span<Sample> out) const;

  /// Hints: write() will be called soon; copy().
  void expect_write() const { prefetch(this, sizeof(*this) - sizeof(present_) - sizeof(samples_)); }
  void expect_read(int64_t timestamp, size_t count) const {
    const auto from = static_cast<size_t>(timestamp & (kCapacity - 1));
    prefetch(&present_[from / 64], sizeof(uint64_t));
    prefetch(&samples_[from], std::min(count, samples_.size() - from) * sizeof(Sample));
  }

  void reset();
  [[nodiscard]] bool empty() const { return empty_; }
  /// One past the newest sample.
  [[nodiscard]] int64_t end() const { return end_; }
  /// Changes with every reset: a reader that sees a new one starts over.
  [[nodiscard]] uint32_t generation() const { return generation_; }

 private:
  [[nodiscard]] bool holds(int64_t timestamp) const;
  void mark(int64_t timestamp, int64_t count, bool present);
  void store(int64_t timestamp, std::span<const Sample> samples);

  int64_t end_ = 0;
  uint32_t generation_ = 0;
  bool empty_ = true;
  std::array<uint64_t, kCapacity / 64> present_{};
  std::array<Sample, kCapacity> samples_{};
};

}  // namespace carillon
