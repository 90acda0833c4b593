#include "engine/media_loop.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// Bounds what a flooded socket can take from the others: 32 datagrams in 5 ms are a hundred times the usual.
constexpr int kMaxBatchesPerDrain = 4;
/// Arrival times outside of this are a stepped wall clock, not a late datagram.
constexpr Nanos kOldestArrival = kSecond;
}  // namespace

MediaLoop::MediaLoop(bool keep_packets)
    : keep_packets_(keep_packets), core_(*this, events_), socket_of_leg_(MediaCore::kMaxLegs, nullptr) {
  for (auto& group : groups_) group.reserve(MediaCore::kMaxLegs);
}

bool MediaLoop::post(std::unique_ptr<Task>& task) {
  dispose_spent();
  return tasks_.push(task);
}

void MediaLoop::dispose_spent() {
  while (spent_.pop()) {
  }
}

void MediaLoop::run_task(Task& task, Nanos now) {
  now_ = now;
  task.run(*this);
}

void MediaLoop::run_tasks(Nanos now) {
  now_ = now;
  while (std::unique_ptr<Task> task = tasks_.pop()) {
    task->run(*this);
    // Always fits: no more tasks are out than kTaskCapacity, because post() empties the spent ring first.
    spent_.push(task);
  }
}

void MediaLoop::add_socket(uint32_t leg, std::unique_ptr<UdpSocket> socket) {
  const size_t index = leg & MediaCore::kIndexMask;
  socket_of_leg_[index] = socket.get();
  groups_[index % kDrainGroups].push_back({leg, std::move(socket)});
}

std::unique_ptr<UdpSocket> MediaLoop::remove_socket(uint32_t leg) {
  const size_t index = leg & MediaCore::kIndexMask;
  auto& group = groups_[index % kDrainGroups];
  const auto found = std::find_if(group.begin(), group.end(), [&](const Entry& entry) { return entry.leg == leg; });
  if (found == group.end()) return nullptr;
  std::unique_ptr<UdpSocket> socket = std::move(found->socket);
  std::swap(*found, group.back());
  group.pop_back();
  socket_of_leg_[index] = nullptr;
  return socket;
}

void MediaLoop::drain_sockets(Nanos now, Nanos wall_offset) {
  now_ = now;
  for (Entry& entry : groups_[group_]) {
    for (int i = 0; i < kMaxBatchesPerDrain; ++i) {
      const size_t count = batch_.receive(*entry.socket);
      for (size_t k = 0; k < count; ++k) {
        const Datagram datagram = batch_.at(k);
        Nanos arrival = datagram.arrived_wall - wall_offset;
        if (datagram.arrived_wall == 0 || arrival > now || arrival < now - kOldestArrival) arrival = now;
        core_.receive(entry.leg, datagram.bytes, datagram.source, arrival);
      }
      if (count < UdpSocket::Batch::kDatagrams) break;
    }
  }
  group_ = (group_ + 1) % kDrainGroups;
}

void MediaLoop::tick(Nanos now) {
  now_ = now;
  core_.tick(now);
  if (--until_report_ > 0) return;
  until_report_ = kFrameMs;
  concluding_.report(events_);
}

void MediaLoop::send(uint32_t leg, const Address& to, Bytes packet) {
  if (keep_packets_) {
    if (sent_.size() < kMaxKeptPackets) sent_.push_back({leg, to, now_, {packet.begin(), packet.end()}});
    return;
  }
  const UdpSocket* const socket = socket_of_leg_[leg & MediaCore::kIndexMask];
  if (socket != nullptr) socket->send(to, packet);
}

}  // namespace carillon
