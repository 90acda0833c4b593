// The control thread's names for things. Each kind has a type of its own: a leg's name where a room's belongs
// does not compile.
#pragma once

#include <compare>
#include <cstdint>

namespace carillon {

/// 0 names nothing.
template <typename Kind>
class Handle {
 public:
  constexpr Handle() = default;
  constexpr explicit Handle(uint32_t value) : value_(value) {}

  [[nodiscard]] constexpr uint32_t value() const { return value_; }
  friend constexpr auto operator<=>(Handle, Handle) = default;

 private:
  uint32_t value_ = 0;
};

using LegHandle = Handle<struct LegKind>;
using RoomHandle = Handle<struct RoomKind>;
using MemberHandle = Handle<struct MemberKind>;
using StreamHandle = Handle<struct StreamKind>;
using SocketHandle = Handle<struct SocketKind>;
using PlayerHandle = Handle<struct PlayerKind>;
/// Of digits that are sent.
using JobHandle = Handle<struct JobKind>;
/// Of what listens: a recording, machine detection, a wait for silence.
using TapHandle = Handle<struct TapKind>;

}  // namespace carillon
