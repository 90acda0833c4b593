#include "engine/socket_wheel.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// Bounds what a flooded socket can take from the others: 32 datagrams in a look are twenty times the usual.
constexpr int kMaxBatchesPerLook = 4;
/// Arrival times outside of this are a stepped wall clock, not a late datagram.
constexpr Nanos kOldestArrival = kSecond;
/// Packets of 20 ms are looked for so long after the one before; of longer ones, a few looks are in vain.
constexpr Nanos kExpectedInterval = 20 * kMillisecond;
/// Looks in vain come after 1, 2, 4, 8 and from then on 10 ticks.
constexpr uint32_t kLongestWait = 10;
}  // namespace

SocketWheel::SocketWheel() : places_(MediaCore::kMaxLegs) {
  for (auto& slot : slots_) slot.reserve(MediaCore::kMaxLegs);
  due_.reserve(MediaCore::kMaxLegs);
}

void SocketWheel::add(uint32_t leg, Pair sockets) {
  places_[leg & MediaCore::kIndexMask] = {leg, std::move(sockets[0]), std::move(sockets[1]), false, 1};
  schedule(leg, 1);
}

SocketWheel::Pair SocketWheel::remove(uint32_t leg) {
  Place& place = places_[leg & MediaCore::kIndexMask];
  if (place.leg != leg) return {};
  place.leg = 0;  // its entry in the wheel finds nobody and goes
  return {std::move(place.socket), std::move(place.rtcp)};
}

void SocketWheel::send_rtcp(uint32_t leg, const Address& to, Bytes packet) const {
  const Place& place = places_[leg & MediaCore::kIndexMask];
  if (place.leg == leg) place.rtcp->send(to, packet);
}

void SocketWheel::send(uint32_t leg, const Address& to, Bytes packet) const {
  const Place& place = places_[leg & MediaCore::kIndexMask];
  if (place.leg != leg) return;
  if (place.connected) {
    place.socket->send(packet);
  } else {
    place.socket->send(to, packet);
  }
}

void SocketWheel::connect(uint32_t leg, const std::optional<Address>& peer) {
  Place& place = places_[leg & MediaCore::kIndexMask];
  if (place.leg != leg) return;
  place.connected = place.socket->connect(peer) && peer.has_value();
}

namespace {

Nanos arrival_of(const Datagram& datagram, Nanos now, Nanos wall_offset) {
  const Nanos arrival = datagram.arrived_wall - wall_offset;
  const bool plausible = datagram.arrived_wall != 0 && arrival <= now && arrival >= now - kOldestArrival;
  return plausible ? arrival : now;
}

}  // namespace

std::optional<Nanos> SocketWheel::receive(Place& place, MediaCore& core, Nanos now, Nanos wall_offset) {
  std::optional<Nanos> newest;
  for (int i = 0; i < kMaxBatchesPerLook; ++i) {
    const size_t count = batch_.receive(*place.socket);
    for (size_t k = 0; k < count; ++k) {
      const Datagram datagram = batch_.at(k);
      const Nanos arrival = arrival_of(datagram, now, wall_offset);
      core.receive(place.leg, datagram.bytes, datagram.source, arrival);
      newest = arrival;
    }
    if (count < UdpSocket::Batch::kDatagrams) break;
  }
  return newest;
}

void SocketWheel::drain_rtcp(MediaCore& core, Nanos now, Nanos wall_offset) {
  rtcp_tick_ = (rtcp_tick_ + 1) % kRtcpTicks;
  for (size_t index = rtcp_tick_; index < places_.size(); index += kRtcpTicks) {
    const Place& place = places_[index];
    if (place.leg == 0) continue;
    const size_t count = batch_.receive(*place.rtcp);
    for (size_t k = 0; k < count; ++k) {
      const Datagram datagram = batch_.at(k);
      core.receive_rtcp(place.leg, datagram.bytes, datagram.source, arrival_of(datagram, now, wall_offset));
    }
  }
}

void SocketWheel::drain(MediaCore& core, Nanos now, Nanos wall_offset) {
  drain_rtcp(core, now, wall_offset);
  slot_ = (slot_ + 1) % kSlots;
  std::swap(due_, slots_[slot_]);
  for (const uint32_t leg : due_) {
    Place& place = places_[leg & MediaCore::kIndexMask];
    if (place.leg != leg) continue;
    const std::optional<Nanos> arrival = receive(place, core, now, wall_offset);
    if (arrival) {
      place.wait = 1;
      const Nanos until_next = *arrival + kExpectedInterval - now;
      schedule(leg, static_cast<size_t>(std::clamp<Nanos>(until_next / kTick + 1, 1, kSlots - 1)));
    } else {
      schedule(leg, place.wait);
      place.wait = std::min(2 * place.wait, kLongestWait);
    }
  }
  due_.clear();
}

}  // namespace carillon
