// Leg statistics in a form that other threads can read.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace carillon {

/// Counters as of the last visit.
struct LegCounts {
  uint64_t packets_received = 0;
  uint64_t packets_sent = 0;
  uint64_t packets_lost = 0;
  uint64_t packets_late = 0;
  uint64_t unknown_sources = 0;
  /// Packets that are not RTP: truncated or of another version.
  uint64_t malformed = 0;
  /// Packets of a protected leg that failed authentication, were replayed or were unencrypted.
  uint64_t unauthentic = 0;
  /// Packets from the peer's address with a payload type that was not negotiated.
  uint64_t not_negotiated = 0;
  double jitter_ms = 0;
  double round_trip_ms = -1;  // negative: unknown
};

/// Quality values, calculated periodically.
struct LegQuality {
  double loss_fraction = 0;
  double mos = 0;  // 0: unknown
  double playout_delay_ms = 0;
  // Fraction of expected packets that arrived too late, and the burst statistics of missing packets (RFC 3611
  // §4.7.2).
  double discard_fraction = 0;
  double burst_density = 0;
  double burst_ms = 0;
  double gap_ms = 0;
  double rating = -1;  // R factor of G.107; negative: unknown
  // Reception at the peer according to its reports. Negative: no report yet.
  double peer_loss_fraction = -1;
  double peer_jitter_ms = -1;
  double peer_mos = -1;
};

struct LegStatistics : LegCounts, LegQuality {};

/// Sequence lock with one writer and any number of readers (H. Boehm, "Can seqlocks get along with
/// programming language memory models?", 2012).
template <typename T>
class SequenceCell {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint64_t) == 0);
  static constexpr size_t kWords = sizeof(T) / sizeof(uint64_t);

 public:
  void publish(const T& value) {
    const auto words = std::bit_cast<std::array<uint64_t, kWords>>(value);
    const uint32_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_relaxed);
    version_.store(version + 2, std::memory_order_release);
  }

  [[nodiscard]] T read() const {
    std::array<uint64_t, kWords> words;
    uint32_t before;
    uint32_t after;
    do {
      before = version_.load(std::memory_order_acquire);
      for (size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      after = version_.load(std::memory_order_relaxed);
    } while (before != after || (before & 1) != 0);
    return std::bit_cast<T>(words);
  }

 private:
  std::atomic<uint32_t> version_{0};
  std::array<std::atomic<uint64_t>, kWords> words_{};
};

/// Published statistics of a leg. The counters, written at each visit, occupy few cache lines.
struct LegFigures {
  SequenceCell<LegCounts> counts;
  SequenceCell<LegQuality> quality;

  [[nodiscard]] LegStatistics read() const { return {counts.read(), quality.read()}; }
};

}  // namespace carillon
