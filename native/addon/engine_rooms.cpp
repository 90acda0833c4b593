// EngineObject: conference rooms.
#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"

namespace carillon {

namespace {
MemberFlags flags_of(Fields& fields) {
  return {fields["muted"].boolean(), fields["deaf"].boolean(), fields["held"].boolean()};
}
}  // namespace

/// (number): the handle of the new room.
Napi::Value EngineObject::open_room(const Info& info) {
  Arguments args(info, "openRoom");
  const uint32_t handle = args.at(0, "number").handle() | kRoomBit;
  if (!args.good()) return info.Env().Undefined();
  engine_->post([room = std::make_unique<Room>(handle)](MediaLoop& loop) mutable {
    static_cast<void>(loop.core().add_room(room));
  });
  return Napi::Number::New(info.Env(), handle);
}

Napi::Value EngineObject::close_room(const Info& info) {
  Arguments args(info, "closeRoom");
  const uint32_t handle = args.at(0, "room").handle();
  if (!args.good()) return info.Env().Undefined();
  engine_->post([handle, removed = std::unique_ptr<Room>()](MediaLoop& loop) mutable {
    removed = loop.core().remove_room(handle);
  });
  return info.Env().Undefined();
}

/// ({ room, leg, member, muted, deaf, held })
Napi::Value EngineObject::join_room(const Info& info) {
  Arguments args(info, "joinRoom");
  Fields fields = args.fields(0);
  const uint32_t room = fields["room"].handle();
  const uint32_t leg = fields["leg"].handle();
  const uint32_t member = fields["member"].handle();
  const MemberFlags flags = flags_of(fields);
  if (!fields.good()) return info.Env().Undefined();
  engine_->post([room, leg, joining = std::make_unique<RoomMember>(member, flags)](MediaLoop& loop) mutable {
    loop.core().join(room, leg, joining);
  });
  return info.Env().Undefined();
}

/// ({ room, member, muted, deaf, held })
Napi::Value EngineObject::set_member(const Info& info) {
  Arguments args(info, "setMember");
  Fields fields = args.fields(0);
  const uint32_t handle = fields["room"].handle();
  const uint32_t member = fields["member"].handle();
  const MemberFlags flags = flags_of(fields);
  if (!fields.good()) return info.Env().Undefined();
  engine_->post([handle, member, flags](MediaLoop& loop) {
    Room* const room = loop.core().room(handle);
    RoomMember* const found = room == nullptr ? nullptr : room->member(member);
    if (found != nullptr) found->set(flags);
  });
  return info.Env().Undefined();
}

Napi::Value EngineObject::leave_room(const Info& info) {
  Arguments args(info, "leaveRoom");
  const uint32_t handle = args.at(0, "room").handle();
  const uint32_t member = args.at(1, "member").handle();
  if (!args.good()) return info.Env().Undefined();
  engine_->post([handle, member, removed = std::unique_ptr<RoomMember>()](MediaLoop& loop) mutable {
    if (Room* const room = loop.core().room(handle)) removed = room->leave(member, loop.core().events());
  });
  return info.Env().Undefined();
}

}  // namespace carillon
