// Handle of a place for playback or recording: a leg or a room.
#pragma once

#include "core/base/handles.hpp"

namespace carillon {

/// Top bit of a place handle: 1 for rooms, 0 for legs.
inline constexpr uint32_t kRoomBit = 0x8000'0000U;

/// Handle of a leg or a room.
using PlaceHandle = Handle<struct PlaceKind>;

constexpr bool is_room(PlaceHandle place) { return (place.value() & kRoomBit) != 0; }

}  // namespace carillon
