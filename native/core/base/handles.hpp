// Typed handles that the control thread assigns. Each kind is a distinct type, so a leg handle cannot be
// passed as a room handle.
#pragma once

#include <compare>
#include <cstdint>

namespace carillon {

/// Identifies an object. 0 means no object.
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
/// Digit-sending jobs.
using JobHandle = Handle<struct JobKind>;
/// Taps: recordings, machine detection and silence detection.
using TapHandle = Handle<struct TapKind>;

}  // namespace carillon
