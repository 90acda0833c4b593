// Legs and rooms are both places where something can be played or recorded; a handle tells which it is.
#pragma once

#include <memory>

#include "engine/media_loop.hpp"

namespace carillon {

/// Handles of rooms have the top bit set, those of legs never have.
inline constexpr uint32_t kRoomBit = 0x8000'0000U;

/// Of a leg or a room.
using PlaceHandle = Handle<struct PlaceKind>;

template <typename Action>
void with_leg(MediaLoop& loop, LegHandle handle, Action action) {
  if (Leg* const leg = loop.core().leg(handle)) {
    action(*leg);
  } else {
    loop.core().missed();
  }
}

template <typename Action>
void with_room(MediaLoop& loop, RoomHandle handle, Action action) {
  if (Room* const room = loop.core().room(handle)) {
    action(*room);
  } else {
    loop.core().missed();
  }
}

template <typename Action>
void with_place(MediaLoop& loop, PlaceHandle handle, Action action) {
  if ((handle.value() & kRoomBit) != 0) {
    with_room(loop, RoomHandle(handle.value()), action);
  } else {
    with_leg(loop, LegHandle(handle.value()), action);
  }
}

/// Puts an object into its place; when the place is gone or full it stays in the command and goes home with
/// it.
template <typename Item>
auto add_to_place(PlaceHandle handle, std::unique_ptr<Item> item) {
  return [handle, item = std::move(item)](MediaLoop& loop) mutable {
    with_place(loop, handle, [&](auto& place) {
      if (!place.add(item)) loop.core().missed();
    });
  };
}

/// The same for what only a leg can take.
template <typename Item>
auto add_to_leg(LegHandle handle, std::unique_ptr<Item> item) {
  return [handle, item = std::move(item)](MediaLoop& loop) mutable {
    with_leg(loop, handle, [&](Leg& leg) {
      if (!leg.add(item)) loop.core().missed();
    });
  };
}

}  // namespace carillon
