// EngineObject: conference rooms.
#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"

namespace carillon {

namespace {
MemberFlags flags_of(Fields& fields) {
  return {fields["muted"].boolean(),    fields["deaf"].boolean(),    fields["held"].boolean(),
          fields["whispers"].boolean(), fields["coached"].boolean(), fields["unrecorded"].boolean()};
}
}  // namespace

/// (number): opens a room and returns its handle.
Napi::Value EngineObject::open_room(const Info& info) {
  Arguments args(info, "openRoom");
  const RoomHandle handle(args.at(0, "number").u32() | kRoomBit);
  if (!args.good()) return info.Env().Undefined();
  engine_->open_room(handle);
  return Napi::Number::New(info.Env(), handle.value());
}

Napi::Value EngineObject::close_room(const Info& info) {
  Arguments args(info, "closeRoom");
  const auto handle = args.at(0, "room").handle<RoomHandle>();
  if (!args.good()) return info.Env().Undefined();
  engine_->close_room(handle);
  return info.Env().Undefined();
}

/// ({ room, leg, member, muted, deaf, held, whispers, coached, unrecorded })
Napi::Value EngineObject::join_room(const Info& info) {
  Arguments args(info, "joinRoom");
  Fields fields = args.fields(0);
  const auto room = fields["room"].handle<RoomHandle>();
  const auto leg = fields["leg"].handle<LegHandle>();
  const auto member = fields["member"].handle<MemberHandle>();
  const MemberFlags flags = flags_of(fields);
  if (!fields.good()) return info.Env().Undefined();
  sessions_.part(leg);
  engine_->join(room, leg, std::make_unique<RoomMember>(member, flags));
  return info.Env().Undefined();
}

/// ({ room, member, muted, deaf, held, whispers, coached, unrecorded })
Napi::Value EngineObject::set_member(const Info& info) {
  Arguments args(info, "setMember");
  Fields fields = args.fields(0);
  const auto handle = fields["room"].handle<RoomHandle>();
  const auto member = fields["member"].handle<MemberHandle>();
  const MemberFlags flags = flags_of(fields);
  if (!fields.good()) return info.Env().Undefined();
  engine_->at_room(handle, [handle, member, flags](MediaLoop& loop) {
    with_room(loop, handle, [&](Room& room) {
      if (RoomMember* const found = room.member(member)) found->set(flags);
    });
  });
  return info.Env().Undefined();
}

Napi::Value EngineObject::leave_room(const Info& info) {
  Arguments args(info, "leaveRoom");
  const auto handle = args.at(0, "room").handle<RoomHandle>();
  const auto member = args.at(1, "member").handle<MemberHandle>();
  if (!args.good()) return info.Env().Undefined();
  engine_->at_room(
      handle, [handle, member, removed = std::unique_ptr<RoomMember>()](MediaLoop& loop) mutable {
        with_room(loop, handle, [&](Room& room) { removed = room.leave(member, loop.core().events()); });
      });
  return info.Env().Undefined();
}

}  // namespace carillon
