#include "engine/socket_wheel.hpp"

#include <algorithm>

#include "core/base/prefetch.hpp"

namespace carillon {

namespace {
/// Maximum number of datagrams per poll of a socket, twenty times the usual number, so that a flooded socket
/// cannot starve others.
constexpr int kMaxDatagramsPerLook = 32;
/// Maximum number of datagrams per socket after a stall: 5 s of packets.
constexpr int kMaxDatagramsAfterStall = 256;
constexpr int kMaxRtcpPerLook = 8;
/// Arrival times outside this range are caused by a wall clock change.
constexpr Nanos kOldestArrival = kSecond;
/// Delay until the next poll after a packet. For longer packet times, some polls find nothing.
constexpr Nanos kExpectedInterval = 20 * kMillisecond;
/// Unsuccessful polls follow after 1, 2, 4, 8 and 10 ticks; then the socket rests.
constexpr uint32_t kLongestWait = 10;
constexpr uint32_t kRests = 32;
/// Number of polls, one per tick, for a packet to relay. After that, the kernel notifies the thread.
constexpr uint32_t kPromptLooks = 3;
/// A packet that arrived on time just now is the only one, so the check for another one is skipped. If there
/// is one after all, the next poll finds it before its playout time.
constexpr Nanos kJustNow = 2 * kMillisecond;
/// Maximum number of connections per peer, which tries each of its addresses.
constexpr size_t kMaxStreamPaths = 8;

/// Returns the arrival time on the monotonic clock, or nullopt if the wall clock was changed.
std::optional<Nanos> arrival_of(const Datagram& datagram, Nanos now, Nanos wall_offset,
                                Nanos oldest = kOldestArrival) {
  const Nanos arrival = datagram.arrived_wall - wall_offset;
  if (datagram.arrived_wall == Nanos{} || arrival > now || arrival < now - oldest) return std::nullopt;
  return arrival;
}
}  // namespace

SocketWheel::SocketWheel() : places_(MediaCore::kMaxLegs), owners_(MediaCore::kMaxLegs) {
  for (auto& slot : slots_) slot.reserve(MediaCore::kMaxLegs);
  due_.reserve(MediaCore::kMaxLegs);
}

bool SocketWheel::begin_ring() {
  ring_ = DatagramRing::open();
  return ring_ != nullptr;
}

void SocketWheel::end_ring() {
  flush();
  ring_.reset();
}

void SocketWheel::flush() {
  if (!ring_) return;
  ring_->exchange();
  if (!ring_->usable()) ring_.reset();
}

void SocketWheel::add(LegHandle leg, Pair sockets) {
  place(leg) = {leg, 1, std::move(*sockets[0]), std::move(*sockets[1])};
  owners_[MediaCore::index_of(leg)] = std::move(sockets);
  rest(place(leg));
}

SocketWheel::Removed SocketWheel::remove(LegHandle leg) {
  Removed removed = take_out(leg);
  for (const StreamPath* one = removed.streams.get(); one != nullptr; one = one->older.get()) one->end();
  return removed;
}

SocketWheel::Removed SocketWheel::take_out(LegHandle leg) {
  Place& leaving = place(leg);
  if (leaving.leg != leg) return {};
  flush();
  if (leaving.watched) unwatch(leaving);
  leaving.leg = {};  // its entry in the wheel becomes stale and is removed later
  Removed removed{std::move(owners_[MediaCore::index_of(leg)]), std::move(leaving.streams)};
  *removed.pair[0] = std::move(leaving.rtp);
  *removed.pair[1] = std::move(leaving.rtcp);
  return removed;
}

SocketWheel::Departed SocketWheel::release(LegHandle leg) {
  Place& leaving = place(leg);
  if (leaving.leg != leg) return {};
  if (leaving.resting) resting_.remove(leaving.rtp);
  Departed departed{{}, leaving.connected, leaving.by_ice, leaving.peer, leaving.destination, {}};
  Removed removed = take_out(leg);
  departed.pair = std::move(removed.pair);
  departed.streams = std::move(removed.streams);
  return departed;
}

void SocketWheel::receive(LegHandle leg, Departed& departed) {
  if (!departed.pair[0]) return;
  place(leg) = {leg, 1, std::move(*departed.pair[0]), std::move(*departed.pair[1]), departed.connected};
  place(leg).by_ice = departed.by_ice;
  place(leg).peer = departed.peer;
  place(leg).destination = departed.destination;
  place(leg).streams = std::move(departed.streams);
  owners_[MediaCore::index_of(leg)] = std::move(departed.pair);
  // Data may have arrived during the move.
  schedule(leg, 1);
}

void SocketWheel::receive_shared(LegHandle leg, std::shared_ptr<StreamPath>& path, const Datagram& datagram,
                                 MediaCore& core, Nanos now) {
  Place& changed = place(leg);
  if (changed.leg == leg) use_shared(changed, path);
  receive(leg, datagram, core, now);
}

void SocketWheel::use_shared(Place& changed, std::shared_ptr<StreamPath>& path) {
  changed.by_ice = true;
  if (!path) return;
  size_t count = 0;
  std::shared_ptr<StreamPath>* oldest = &changed.streams;
  for (; *oldest; oldest = &(*oldest)->older, ++count) {
    if (*oldest == path) return;
    if (count + 1 == kMaxStreamPaths) break;
  }
  std::shared_ptr<StreamPath> unused = std::move(*oldest);
  path->older = std::move(changed.streams);
  changed.streams = std::move(path);
  path = std::move(unused);
}

void SocketWheel::attach(LegHandle leg, UdpSocket& socket, const Address& peer) {
  Place& changed = place(leg);
  if (changed.leg != leg) return;
  flush();
  const bool waits = !changed.watched && !changed.resting;
  if (changed.watched) unwatch(changed);
  if (changed.resting) resting_.remove(changed.rtp);
  changed.resting = false;
  std::swap(changed.rtp, socket);
  changed.by_ice = changed.connected = true;
  changed.peer = peer;
  changed.wait = 1;
  if (!waits) schedule(leg, 1);
}

/// Sends through the leg's own socket to its peer. Sends from the shared port, or over TCP, to other
/// addresses that perform checks.
void SocketWheel::send_by_ice(const Place& from, const Address& to, Bytes packet) const {
  if (from.connected && to == from.peer) {
    send_connected(from, packet);
  } else if (!to.stream) {
    if (shared_ != nullptr) shared_->send(to, packet, own_address(from, to));
  } else {
    StreamPath* path = from.streams.get();
    while (path != nullptr && path->peer() != to) path = path->older.get();
    if (path != nullptr) path->send(packet);
  }
}

void SocketWheel::send_connected(const Place& from, Bytes packet) const {
  if (ring_) {
    ring_->send(from.rtp, packet);
  } else {
    from.rtp.send(packet);
  }
}

void SocketWheel::rest(Place& quiet) {
  quiet.wait = kRests;
  quiet.resting = resting_.add(quiet.leg, quiet.rtp);
  if (!quiet.resting) schedule(quiet.leg, kLongestWait);
}

void SocketWheel::prompt(LegHandle leg, bool wanted) {
  Place& changed = place(leg);
  if (changed.leg == leg) changed.prompt = wanted;
}

bool SocketWheel::watch(Place& prompt) {
  prompt.watched = resting_.add(prompt.leg, prompt.rtp, true);
  if (prompt.watched) ++prompt_count_;
  return prompt.watched;
}

void SocketWheel::unwatch(Place& watched) {
  resting_.remove(watched.rtp);
  watched.watched = false;
  --prompt_count_;
}

void SocketWheel::count_prompt(Nanos now) {
  const Nanos counted_for = now - counting_since_;
  if (counted_for < kCounting) return;
  many_prompt_ = static_cast<int64_t>(counted_) * (kCounting / kTick) >=
                 static_cast<int64_t>(kMany) * (counted_for / kTick);
  counting_since_ = now;
  counted_ = 0;
}

void SocketWheel::wake_resting(Nanos now) {
  if (now == resting_asked_at_) return;  // one of several ticks that are caught up
  resting_asked_at_ = now;
  count_prompt(now);
  for (const LegHandle leg : resting_.ready()) {
    Place& woken = place(leg);
    if (woken.leg == leg && woken.watched) due_.push_back(leg);
    if (woken.leg != leg || !woken.resting) continue;
    woken.resting = false;
    // Polling is cheaper than notification for active sockets.
    resting_.remove(woken.rtp);
    due_.push_back(leg);
  }
}

int64_t SocketWheel::idle_ticks(int64_t limit) const {
  int64_t idle = 0;
  while (idle < limit && slots_[(slot_ + 1 + static_cast<size_t>(idle)) % kSlots].empty()) ++idle;
  return idle;
}

void SocketWheel::pass(int64_t ticks, MediaCore& core, Nanos now, Nanos wall_offset) {
  for (int64_t i = std::min<int64_t>(ticks, kRtcpTicks); i > 0; --i) drain_rtcp(core, now, wall_offset);
}

void SocketWheel::send_rtcp(LegHandle leg, const Address& to, Bytes packet) const {
  const Place& from = place(leg);
  if (from.leg == leg) from.rtcp.send(to, packet, own_address(from, to));
}

void SocketWheel::send(LegHandle leg, const Address& to, Bytes packet) const {
  const Place& from = place(leg);
  if (from.leg != leg) return;
  if (from.by_ice) {
    send_by_ice(from, to, packet);
  } else if (from.connected) {
    send_connected(from, packet);
  } else {
    from.rtp.send(to, packet, own_address(from, to));
  }
}

/// Returns the own address for a packet: that of the datagram that it answers, the one to which the peer
/// sends, or the one in our SDP.
const Address& SocketWheel::own_address(const Place& from, const Address& to) const {
  if (to == source_ && destination_.family != Address::Family::none) return destination_;
  if (from.destination.family == to.family) return from.destination;
  return announced_[to.family == Address::Family::ipv6 ? 1 : 0];
}

void SocketWheel::connect(LegHandle leg, const std::optional<Address>& peer) {
  Place& changed = place(leg);
  if (changed.leg != leg || !changed.rtp.reopens()) return;
  flush();
  const Address own = peer ? own_address(changed, *peer) : Address();
  changed.connected = changed.rtp.connect(peer, own) && peer.has_value();
}

/// Passes a datagram to the core. The own address of the peer's packets is learned only from those of the
/// leg's peer, because anyone can send to the other addresses.
void SocketWheel::receive(LegHandle leg, const Datagram& datagram, MediaCore& core, Nanos arrival) {
  const bool known = datagram.destination.family != Address::Family::none;
  if (known) {
    source_ = datagram.source;
    destination_ = datagram.destination;
  }
  core.receive(leg, datagram.bytes, datagram.source, arrival);
  if (!known) return;
  source_ = {};
  if (core.is_peer(leg, datagram.source)) place(leg).destination = datagram.destination;
}

Nanos SocketWheel::take(UdpSocket::Buffer& buffer, Place& place, MediaCore& core, Nanos now,
                        Nanos wall_offset) {
  for (int taken = 1;; ++taken) {
    const Datagram datagram = buffer.datagram();
    const std::optional<Nanos> arrival = arrival_of(datagram, now, wall_offset);
    receive(place.leg, datagram, core, arrival.value_or(now));
    const bool at_its_time = (place.wait == 1 || place.prompt) && arrival && now - *arrival <= kJustNow;
    if (at_its_time || taken == kMaxDatagramsPerLook || !buffer.receive(place.rtp)) {
      return arrival.value_or(now);
    }
  }
}

void SocketWheel::read(std::span<const LegHandle> legs, MediaCore& core) {
  for (const LegHandle leg : legs) {
    prefetch(&place(leg), sizeof(Place));
    core.expect_soon(leg);
  }
  for (size_t i = 0; i < legs.size() + Leg::kPacketSteps - 1; ++i) {
    // Prefetch step for each of the legs before this one; there is a poll between two steps.
    for (size_t back = 0; back < Leg::kPacketSteps && back <= i; ++back) {
      if (i - back < legs.size()) core.expect(legs[i - back], Leg::kPacketSteps - 1 - back);
    }
    if (i >= legs.size()) continue;
    const Place& due = place(legs[i]);
    if (ring_) {
      // If the leg was removed, the place's socket is invalid and receives no data.
      ring_->receive(due.rtp, buffers_[i]);
    } else {
      found_[i] = due.leg == legs[i] && buffers_[i].receive(due.rtp);
    }
  }
  // The ring may fail while its datagrams are processed.
  if (ring_) std::ranges::copy(ring_->exchange(), found_.begin());
}

void SocketWheel::look(std::span<const LegHandle> legs, MediaCore& core, Nanos now, Nanos wall_offset) {
  read(legs, core);
  for (size_t i = 0; i < legs.size(); ++i) {
    Place& due = place(legs[i]);
    if (due.leg != legs[i]) continue;
    if (found_[i]) {
      found(due, buffers_[i], core, now, wall_offset);
    } else if (!due.watched) {
      found_none(due);
    }
  }
}

void SocketWheel::found(Place& due, UdpSocket::Buffer& buffer, MediaCore& core, Nanos now,
                        Nanos wall_offset) {
  const Nanos arrival = take(buffer, due, core, now, wall_offset);
  due.wait = 1;
  Nanos next = arrival + kExpectedInterval;
  if (due.prompt) {
    prompt_at_ = now;
    ++counted_;
    due.clock.arrived(arrival);
    next = due.clock.next();
  }
  const bool by_clock = !due.prompt || (many_prompt_ && due.clock.steady());
  if (due.watched && by_clock) unwatch(due);
  if (due.watched || (!by_clock && watch(due))) return;
  schedule(due.leg, static_cast<size_t>(std::clamp<int64_t>((next - now) / kTick + 1, 1, kSlots - 1)));
}

void SocketWheel::found_none(Place& due) {
  if (due.prompt) {
    if (due.wait++ >= kPromptLooks && watch(due)) return;
    schedule(due.leg, 1);
  } else if (due.wait >= kRests) {
    rest(due);
  } else {
    schedule(due.leg, std::min(due.wait, kLongestWait));
    due.wait *= 2;
  }
}

void SocketWheel::drain_rtcp(MediaCore& core, Nanos now, Nanos wall_offset) {
  rtcp_tick_ = (rtcp_tick_ + 1) % kRtcpTicks;
  UdpSocket::Buffer& buffer = buffers_[0];
  for (size_t index = rtcp_tick_; index < places_.size(); index += kRtcpTicks) {
    const Place& due = places_[index];
    if (due.leg == LegHandle()) continue;
    for (int taken = 0; taken < kMaxRtcpPerLook && buffer.receive(due.rtcp); ++taken) {
      const Datagram datagram = buffer.datagram();
      core.receive_rtcp(due.leg, datagram.bytes, datagram.source,
                        arrival_of(datagram, now, wall_offset).value_or(now));
    }
  }
}

void SocketWheel::drain_prompt(MediaCore& core, Nanos now, Nanos wall_offset) {
  wake_resting(now);
  look_at_due(core, now, wall_offset);
  flush();
}

void SocketWheel::catch_up(MediaCore& core, Nanos now, Nanos wall_offset, Nanos stalled) {
  UdpSocket::Buffer& buffer = buffers_[0];
  for (const Place& waiting : places_) {
    const LegHandle leg = waiting.leg;
    if (leg == LegHandle()) continue;
    for (int taken = 0; taken < kMaxDatagramsAfterStall && buffer.receive(waiting.rtp); ++taken) {
      const Datagram datagram = buffer.datagram();
      const auto arrival = arrival_of(datagram, now, wall_offset, kOldestArrival + stalled);
      receive(leg, datagram, core, arrival.value_or(now));
    }
  }
  flush();
}

void SocketWheel::drain(MediaCore& core, Nanos now, Nanos wall_offset) {
  drain_rtcp(core, now, wall_offset);
  slot_ = (slot_ + 1) % kSlots;
  std::swap(due_, slots_[slot_]);
  scheduled_ -= due_.size();
  wake_resting(now);
  look_at_due(core, now, wall_offset);
}

void SocketWheel::look_at_due(MediaCore& core, Nanos now, Nanos wall_offset) {
  const std::span<const LegHandle> due(due_);
  for (size_t from = 0; from < due.size(); from += kLooksAtOnce) {
    look(due.subspan(from, std::min(kLooksAtOnce, due.size() - from)), core, now, wall_offset);
  }
  due_.clear();
}

}  // namespace carillon
