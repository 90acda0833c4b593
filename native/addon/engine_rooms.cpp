// EngineObject: conference rooms.
#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"

namespace carillon {

/// (number): the handle of the new room.
Napi::Value EngineObject::open_room(const Info& info) {
  const uint32_t handle = u32_at(info, 0) | kRoomBit;
  engine_->post([room = std::make_unique<Room>(handle)](MediaLoop& loop) mutable {
    static_cast<void>(loop.core().add_room(room));
  });
  return Napi::Number::New(info.Env(), handle);
}

Napi::Value EngineObject::close_room(const Info& info) {
  engine_->post([handle = u32_at(info, 0), removed = std::unique_ptr<Room>()](MediaLoop& loop) mutable {
    removed = loop.core().remove_room(handle);
  });
  return info.Env().Undefined();
}

/// (room, leg, member, muted, deaf, held)
Napi::Value EngineObject::join_room(const Info& info) {
  const MemberFlags flags{bool_at(info, 3), bool_at(info, 4), bool_at(info, 5)};
  engine_->post([room = u32_at(info, 0), leg = u32_at(info, 1),
                 member = std::make_unique<RoomMember>(u32_at(info, 2), flags)](MediaLoop& loop) mutable {
    loop.core().join(room, leg, member);
  });
  return info.Env().Undefined();
}

/// (room, member, muted, deaf, held)
Napi::Value EngineObject::set_member(const Info& info) {
  const MemberFlags flags{bool_at(info, 2), bool_at(info, 3), bool_at(info, 4)};
  engine_->post([handle = u32_at(info, 0), member = u32_at(info, 1), flags](MediaLoop& loop) {
    Room* const room = loop.core().room(handle);
    RoomMember* const found = room == nullptr ? nullptr : room->member(member);
    if (found != nullptr) found->set(flags);
  });
  return info.Env().Undefined();
}

/// (room, member)
Napi::Value EngineObject::leave_room(const Info& info) {
  engine_->post([handle = u32_at(info, 0), member = u32_at(info, 1),
                 removed = std::unique_ptr<RoomMember>()](MediaLoop& loop) mutable {
    if (Room* const room = loop.core().room(handle)) removed = room->leave(member, loop.core().events());
  });
  return info.Env().Undefined();
}

}  // namespace carillon
