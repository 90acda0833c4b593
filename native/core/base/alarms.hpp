// Timer queue with at most one alarm per owner: a binary heap with an index from owner to heap position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/time.hpp"

namespace carillon {

class Alarms {
 public:
  /// Owners are the numbers 0 to `owners` - 1. Allocates all memory.
  explicit Alarms(size_t owners) : places_(owners, kNone) { heap_.reserve(owners); }

  /// Sets the alarm of `owner` and replaces its earlier alarm.
  void set(uint32_t owner, Nanos at) {
    clear(owner);
    heap_.push_back({at, owner});
    places_[owner] = heap_.size() - 1;
    rise(heap_.size() - 1);
  }

  void clear(uint32_t owner) {
    const size_t place = places_[owner];
    if (place == kNone) return;
    swap_places(place, heap_.size() - 1);
    heap_.pop_back();
    places_[owner] = kNone;
    if (place == heap_.size()) return;
    rise(place);
    sink(place);
  }

  [[nodiscard]] std::optional<Nanos> next() const {
    return heap_.empty() ? std::nullopt : std::optional(heap_.front().at);
  }

  /// Returns the owner of the earliest alarm that is due at `now` and clears the alarm.
  std::optional<uint32_t> take_due(Nanos now) {
    if (heap_.empty() || heap_.front().at > now) return std::nullopt;
    const uint32_t owner = heap_.front().owner;
    clear(owner);
    return owner;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  struct Alarm {
    Nanos at;
    uint32_t owner;
  };

  void swap_places(size_t a, size_t b) {
    std::swap(heap_[a], heap_[b]);
    places_[heap_[a].owner] = a;
    places_[heap_[b].owner] = b;
  }
  void rise(size_t place) {
    while (place > 0 && heap_[place].at < heap_[(place - 1) / 2].at) {
      swap_places(place, (place - 1) / 2);
      place = (place - 1) / 2;
    }
  }
  void sink(size_t place) {
    while (true) {
      size_t first = place;
      for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < heap_.size(); ++child) {
        if (heap_[child].at < heap_[first].at) first = child;
      }
      if (first == place) return;
      swap_places(place, first);
      place = first;
    }
  }

  std::vector<Alarm> heap_;
  std::vector<size_t> places_;  // heap index by owner
};

}  // namespace carillon
