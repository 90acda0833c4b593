#include "core/dsp/comfort_noise_pool.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <type_traits>

namespace carillon {

namespace {

/// Trivial, so that no constructor touches the memory at the start.
struct Place {
  alignas(ComfortNoise) std::array<std::byte, sizeof(ComfortNoise)> noise;
  /// Index of the next free place plus 1. 0: none.
  uint32_t next_free;
};
static_assert(std::is_trivial_v<Place>);
static_assert(std::is_trivially_destructible_v<ComfortNoise> && offsetof(Place, noise) == 0);

constexpr int kTagShift = 32;

std::array<Place, ComfortNoisePool::kCapacity> places;

std::atomic_ref<uint32_t> next_free_of(uint32_t index) noexcept {
  return std::atomic_ref(places[index].next_free);
}
/// Number of places that were ever used.
std::atomic<uint32_t> used{0};
/// Stack of returned places: index of the first plus 1, and above it a tag. The tag changes with each
/// removal, so that a place that was removed and returned in between is noticed.
std::atomic<uint64_t> free_places{0};

ComfortNoisePool::Lease made_at(uint32_t index) noexcept {
  return ComfortNoisePool::Lease(new (places[index].noise.data()) ComfortNoise());
}

}  // namespace

ComfortNoisePool::Lease ComfortNoisePool::take() noexcept {
  uint64_t first = free_places.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(first) != 0) {
    const uint32_t index = static_cast<uint32_t>(first) - 1;
    const uint64_t tag = (first >> kTagShift) + 1;
    const uint64_t next = tag << kTagShift | next_free_of(index).load(std::memory_order_relaxed);
    if (free_places.compare_exchange_weak(first, next, std::memory_order_acquire)) return made_at(index);
  }
  uint32_t index = used.load(std::memory_order_relaxed);
  do {
    if (index == kCapacity) return nullptr;
  } while (!used.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  return made_at(index);
}

void ComfortNoisePool::give_back(ComfortNoise* noise) noexcept {
  const auto index = static_cast<uint32_t>(reinterpret_cast<Place*>(noise) - places.data());
  uint64_t first = free_places.load(std::memory_order_relaxed);
  uint64_t next = 0;
  do {
    next_free_of(index).store(static_cast<uint32_t>(first), std::memory_order_relaxed);
    next = first >> kTagShift << kTagShift | (index + 1);
  } while (!free_places.compare_exchange_weak(first, next, std::memory_order_acq_rel));
}

}  // namespace carillon
