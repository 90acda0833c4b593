#include "core/rtp/packet_room.hpp"

#include "core/base/prefetch.hpp"

namespace carillon {

namespace {
thread_local size_t rooms_taken = 0;
}

std::span<uint8_t, PacketRoom::kBytes> PacketRoom::next() {
  struct alignas(kCacheLine) Room {
    std::array<uint8_t, kBytes> bytes;
  };
  thread_local std::array<Room, kRooms> rooms;
  return rooms[rooms_taken++ % kRooms].bytes;
}

void PacketRoom::give_back() { --rooms_taken; }

}  // namespace carillon
