// Conferences of a media thread, and the slots of their members.
#include <algorithm>

#include "core/media_core.hpp"

namespace carillon {

namespace {
/// Legs that a slot can have before members of a conference are distributed over later slots.
constexpr size_t kFewInSlot = 8;
}  // namespace

bool MediaCore::add_room(std::unique_ptr<Room>& room) {
  if (rooms_.size() == kMaxRooms) return false;
  const auto fewest =
      std::ranges::min_element(rooms_of_slot_, {}, [](const auto& rooms) { return rooms.size(); });
  room->stand_in(static_cast<size_t>(fewest - rooms_of_slot_.begin()));
  fewest->push_back(room.get());
  rooms_.push_back(std::move(room));
  return true;
}

/// Moves a room to another slot.
void MediaCore::place(Room& room, size_t slot) {
  std::erase(rooms_of_slot_[room.slot()], &room);
  rooms_of_slot_[slot].push_back(&room);
  room.stand_in(slot);
}

/// Schedules a member's move to the slot of its room or the next one with few legs, so that the mix does not
/// wait for the member's visit.
void MediaCore::follow_room(Entry& member, const Room& room) {
  if (member.leg->needs_half_frames()) return;
  const size_t many = std::max(kFewInSlot, 2 * leg_count_ / kSlots);
  size_t slot = room.slot();
  while (slot != member.slot && slot_sizes_[slot] >= many) {
    slot = (slot + 1) % kSlots;
    if (slot == room.slot()) return;
  }
  member.next_slot = slot;
  if (slot != member.slot && std::ranges::find(moving_, member.leg->handle()) == moving_.end()) {
    moving_.push_back(member.leg->handle());
  }
}

/// Moves the legs that have just been visited. The next visit then follows within 20 ms, and no frame is left
/// out.
void MediaCore::move_to_next_slots(size_t visited) {
  std::erase_if(moving_, [&](LegHandle handle) {
    Entry* const found = entry(handle);
    if (found == nullptr || found->slot == found->next_slot) return true;
    if (found->slot != visited || found->idle) return false;
    if (slot_sizes_[found->next_slot] == kLegsInSlot) return true;
    std::erase(slots_[visited], found->leg.get());
    --slot_sizes_[visited];
    slots_[found->next_slot].push_back(found->leg.get());
    ++slot_sizes_[found->next_slot];
    found->slot = found->next_slot;
    return true;
  });
}

Room* MediaCore::room(RoomHandle handle) {
  for (auto& room : rooms_) {
    if (room->handle() == handle) return room.get();
  }
  return nullptr;
}

std::unique_ptr<Room> MediaCore::remove_room(RoomHandle handle) {
  for (auto& place : rooms_) {
    if (place->handle() != handle) continue;
    std::unique_ptr<Room> room = std::move(place);
    std::erase(rooms_of_slot_[room->slot()], room.get());
    std::swap(place, rooms_.back());
    rooms_.pop_back();
    room->close(events_);
    return room;
  }
  return nullptr;
}

bool MediaCore::join(RoomHandle room, LegHandle leg, std::unique_ptr<RoomMember>& member) {
  Room* const target = this->room(room);
  Entry* const joining = entry(leg);
  if (target == nullptr || joining == nullptr) return false;
  detach(*joining);
  for (auto& other : rooms_) other->forget(*joining->leg, events_);
  change(*joining);
  const bool first = target->empty();
  if (!target->join(member, *joining->leg)) return false;
  if (first) place(*target, joining->slot);
  follow_room(*joining, *target);
  return true;
}

}  // namespace carillon
