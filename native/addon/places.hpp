// Legs and rooms are both places where something can be played or recorded; a handle tells which it is.
#pragma once

#include <memory>

#include "engine/media_loop.hpp"

namespace carillon {

/// Handles of rooms have the top bit set, those of legs never have.
inline constexpr uint32_t kRoomBit = 0x8000'0000U;

template <typename Action>
void with_place(MediaLoop& loop, uint32_t handle, Action action) {
  if ((handle & kRoomBit) != 0) {
    if (Room* const room = loop.core().room(handle)) action(*room);
  } else if (Leg* const leg = loop.core().leg(handle)) {
    action(*leg);
  }
}

/// Puts an object into its place; when the place is gone or full it stays in the command and goes home with
/// it.
template <typename Item>
auto add_to_place(uint32_t handle, std::unique_ptr<Item> item) {
  return [handle, item = std::move(item)](MediaLoop& loop) mutable {
    with_place(loop, handle, [&](auto& place) { static_cast<void>(place.add(item)); });
  };
}

/// The same for what only a leg can take.
template <typename Item>
auto add_to_leg(uint32_t handle, std::unique_ptr<Item> item) {
  return [handle, item = std::move(item)](MediaLoop& loop) mutable {
    if (Leg* const leg = loop.core().leg(handle)) static_cast<void>(leg->add(item));
  };
}

}  // namespace carillon
