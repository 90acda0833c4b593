// Finds a leg or a room on its media thread.
#pragma once

#include <memory>

#include "engine/media_loop.hpp"
#include "engine/place_handle.hpp"

namespace carillon {

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
  if (is_room(handle)) {
    with_room(loop, RoomHandle(handle.value()), action);
  } else {
    with_leg(loop, LegHandle(handle.value()), action);
  }
}

/// Adds an object to its place. If the place is gone or full, the object stays in the command and returns to
/// the control thread with it.
template <typename Item>
auto add_to_place(std::unique_ptr<Item> item) {
  return [item = std::move(item)](MediaLoop& loop, PlaceHandle at) mutable {
    with_place(loop, at, [&](auto& place) {
      if (!place.add(item)) loop.core().missed();
    });
  };
}

/// Removes an object from its place with `remove`. It returns to the control thread with the command.
template <typename Item, typename Remove>
auto remove_from_place(Remove remove) {
  return [remove, removed = std::unique_ptr<Item>()](MediaLoop& loop, PlaceHandle at) mutable {
    with_place(loop, at, [&](auto& place) { removed = remove(place); });
  };
}

/// As add_to_place(), for objects that only a leg accepts.
template <typename Item>
auto add_to_leg(std::unique_ptr<Item> item) {
  return [item = std::move(item)](MediaLoop& loop, LegHandle at) mutable {
    with_leg(loop, at, [&](Leg& leg) {
      if (!leg.add(item)) loop.core().missed();
    });
  };
}

/// As remove_from_place(), for objects that only a leg accepts.
template <typename Item, typename Remove>
auto remove_from_leg(Remove remove) {
  return [remove, removed = std::unique_ptr<Item>()](MediaLoop& loop, LegHandle at) mutable {
    with_leg(loop, at, [&](Leg& leg) { removed = remove(leg); });
  };
}

}  // namespace carillon
