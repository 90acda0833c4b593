#include "core/rtp/packet_room.hpp"

#include "core/base/prefetch.hpp"

namespace carillon {

std::span<uint8_t, PacketRoom::kBytes> PacketRoom::next() {
  struct alignas(kCacheLine) Room {
    std::array<uint8_t, kBytes> bytes;
  };
  thread_local std::array<Room, kRooms> rooms;
  thread_local size_t taken = 0;
  return rooms[taken++ % kRooms].bytes;
}

}  // namespace carillon
