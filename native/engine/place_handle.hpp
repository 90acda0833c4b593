// Legs and rooms are both places where something can be played or recorded; a handle tells which it is.
#pragma once

#include "core/base/handles.hpp"

namespace carillon {

/// Handles of rooms have the top bit set, those of legs never have.
inline constexpr uint32_t kRoomBit = 0x8000'0000U;

/// Of a leg or a room.
using PlaceHandle = Handle<struct PlaceKind>;

constexpr bool is_room(PlaceHandle place) { return (place.value() & kRoomBit) != 0; }

}  // namespace carillon
