#include "core/media_core.hpp"

#include <algorithm>

namespace carillon {

namespace {
/// Visits that a leg may miss while it moves between cores. The time of further visits is skipped.
constexpr int64_t kMaxMissedVisits = 3;
/// Time after which the next alarm of a leg that only relays causes a visit, because visits publish its
/// statistics. Alarms follow within 200 ms.
constexpr int64_t kMaxRelayTicks = 800 * kMillisecond / kTick;
}  // namespace

MediaCore::MediaCore(PacketSink& sink, Events& events)
    : sink_(sink), events_(events), batch_(sink, counters_), legs_(kMaxLegs) {
  // Placing new legs evenly, and moved legs near their previous slot, needs spare capacity. Reserve it here,
  // because a tick must not allocate.
  for (auto& slot : slots_) slot.reserve(kLegsInSlot);
  for (auto& slot : halves_) slot.reserve(kLegsInSlot);
  idle_.reserve(kLegsInSlot);
  rooms_.reserve(kMaxRooms);
  for (auto& rooms : rooms_of_slot_) rooms.reserve(kMaxRooms);
  changed_.reserve(kMaxLegs);
  moving_.reserve(kMaxLegs);
}

void MediaCore::PacketBatch::send(LegHandle leg, const Address& to, Bytes packet) {
  if (count_ == packets_.size()) flush();
  packets_[count_++] = {leg, to, packet};
}

void MediaCore::PacketBatch::flush() {
  for (size_t i = 0; i < count_; ++i) inner_.send(packets_[i].leg, packets_[i].to, packets_[i].bytes);
  counters_.packets_sent += count_;
  count_ = 0;
}

MediaCore::Entry* MediaCore::entry(LegHandle handle) {
  Entry& found = legs_[index_of(handle)];
  return found.leg && found.leg->handle() == handle ? &found : nullptr;
}

Leg* MediaCore::leg(LegHandle handle) {
  Entry* const found = entry(handle);
  if (found == nullptr) return nullptr;
  change(*found);
  return found->leg.get();
}

const Leg* MediaCore::peek(LegHandle handle) const {
  const Leg* const found = legs_[index_of(handle)].leg.get();
  return found != nullptr && found->handle() == handle ? found : nullptr;
}

/// Returns the last tick before the next one that visits this leg's slot.
int64_t MediaCore::visit_before(const Entry& found) const {
  const auto slot = static_cast<int64_t>(found.slot);
  return ticks_ + (slot - ticks_ % kSlots + kSlots) % kSlots - kSlots;
}

void MediaCore::wake(Entry& entry) {
  if (!entry.idle) return;
  entry.idle = false;
  --idle_count_;
  alarms_.clear(index_of(entry.leg->handle()));
  slots_[entry.slot].push_back(entry.leg.get());
  const int64_t left_out = (visit_before(entry) - entry.visited) / kSlots;
  if (left_out > 0) entry.leg->idle_over(static_cast<uint32_t>(left_out));
}

void MediaCore::change(Entry& found) {
  wake(found);
  // An object added to a leg may listen to the other leg of its bridge, so wake that leg too.
  if (found.bridge.other != nullptr) wake(legs_[index_of(found.bridge.other_handle)]);
  if (found.changed) return;
  found.changed = true;
  changed_.push_back(found.leg->handle());
}

void MediaCore::wake_due(Nanos now) {
  while (const std::optional<uint32_t> index = alarms_.take_due(now)) {
    if (!sleep_on(legs_[*index], now)) wake(legs_[*index]);
  }
}

/// Packets that were relayed since the last visit postpone the end of the relay. Sets the next alarm without
/// a visit, which would load most of the leg into the caches. Returns false if a visit is due.
bool MediaCore::sleep_on(const Entry& asleep, Nanos now) {
  if (!asleep.leg->relays() || visit_before(asleep) - asleep.visited >= kMaxRelayTicks) return false;
  const std::optional<Nanos> until = asleep.leg->idle_until(now);
  if (!until || *until <= now) return false;
  alarms_.set(index_of(asleep.leg->handle()), *until);
  return true;
}

/// Puts an idle leg to sleep. Returns true if it sleeps; the caller then removes it from its slot.
bool MediaCore::suspend(Entry& awake, Nanos now) {
  const std::optional<Nanos> until = awake.leg->idle_until(now);
  if (!until) return false;
  awake.idle = true;
  ++idle_count_;
  awake.visited = visit_before(awake);
  alarms_.set(index_of(awake.leg->handle()), *until);
  return true;
}

void MediaCore::lay_down_idle(Nanos now) {
  for (const LegHandle handle : idle_) {
    Entry& found = legs_[index_of(handle)];
    if (suspend(found, now)) std::erase(slots_[found.slot], found.leg.get());
  }
  idle_.clear();
  for (const LegHandle handle : changed_) {
    Entry* const found = entry(handle);
    if (found == nullptr) continue;
    found->changed = false;
    if (!found->idle && suspend(*found, now)) std::erase(slots_[found->slot], found->leg.get());
  }
  changed_.clear();
}

void MediaCore::add_leg(std::unique_ptr<Leg> leg) {
  // Use the least loaded slot. The search start advances, so that legs created together spread over the
  // frame.
  size_t best = next_slot_;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const size_t slot = (next_slot_ + i) % slots_.size();
    if (slot_sizes_[slot] < slot_sizes_[best]) best = slot;
  }
  next_slot_ = (best + 7) % slots_.size();
  put_in(std::move(leg), best);
}

void MediaCore::put_in(std::unique_ptr<Leg> leg, size_t slot) {
  Entry& place = legs_[index_of(leg->handle())];
  slots_[slot].push_back(leg.get());
  ++slot_sizes_[slot];
  place.slot = place.next_slot = slot;
  place.leg = std::move(leg);
  expect_half(*place.leg, slot);
  place.idle = place.changed = place.prompt = false;
  ++leg_count_;
  change(place);
}

/// Removes a leg from its bridge or room and from its slot.
MediaCore::Entry* MediaCore::take_out(LegHandle handle) {
  Entry* const found = entry(handle);
  if (found == nullptr) return nullptr;
  detach(*found);
  for (auto& room : rooms_) room->forget(*found->leg, events_);
  wake(*found);
  std::erase(slots_[found->slot], found->leg.get());
  --slot_sizes_[found->slot];
  --leg_count_;
  return found;
}

std::unique_ptr<Leg> MediaCore::remove_leg(LegHandle handle, Nanos now) {
  Entry* const found = take_out(handle);
  if (found == nullptr) return nullptr;
  found->leg->end(now, batch_, events_);
  batch_.flush();
  return std::move(found->leg);
}

MediaCore::Departed MediaCore::release_leg(LegHandle handle) {
  Entry* const found = take_out(handle);
  if (found == nullptr) return {};
  return {std::move(found->leg), visit_before(*found), ticks_};
}

void MediaCore::receive_leg(Departed& departed, Nanos now) {
  Leg& leg = *departed.leg;
  // In a core that has just started, the last visit can precede the first tick.
  const auto begin = static_cast<size_t>((departed.visited % kSlots + kSlots) % kSlots);
  size_t slot = begin;
  while (slot_sizes_[slot] == kLegsInSlot) slot = (slot + 1) % kSlots;
  put_in(std::move(departed.leg), slot);
  const auto later = static_cast<int64_t>((slot + kSlots - begin) % kSlots);
  const int64_t due = visit_before(legs_[index_of(leg.handle())]) - later;
  const int64_t missed = std::max<int64_t>(0, due - departed.visited) / kSlots;
  if (missed > kMaxMissedVisits) leg.skip_frames(static_cast<uint32_t>(missed - kMaxMissedVisits));
  for (int64_t visit = 0; visit < std::min(missed, kMaxMissedVisits); ++visit) {
    leg.frame(now, batch_, events_);
    batch_.flush();
  }
}

/// Ends the leg's bridge on both sides.
void MediaCore::detach(Entry& side) {
  if (side.bridge.other == nullptr) return;
  Entry* const other = entry(side.bridge.other_handle);
  for (Entry* const end : {&side, other}) {
    if (end == nullptr) continue;
    if (end->leg->far_end() == &end->bridge) end->leg->set_far_end(nullptr);
    end->bridge.other = nullptr;
  }
}

bool MediaCore::bridge(LegHandle a, LegHandle b) {
  Entry* const first = entry(a);
  Entry* const second = entry(b);
  if (first == nullptr || second == nullptr || first == second) return false;
  for (Entry* const side : {first, second}) {
    detach(*side);
    for (auto& room : rooms_) room->forget(*side->leg, events_);
    change(*side);
  }
  const auto join = [this](Entry& side, Entry& other) {
    side.bridge.core = this;
    side.bridge.other = other.leg.get();
    side.bridge.other_handle = other.leg->handle();
    side.leg->set_far_end(&side.bridge);
  };
  join(*first, *second);
  join(*second, *first);
  return true;
}

bool MediaCore::unbridge(LegHandle a, LegHandle b) {
  Entry* const first = entry(a);
  if (first == nullptr || first->bridge.other == nullptr || first->bridge.other_handle != b) return false;
  detach(*first);
  return true;
}

void MediaCore::receive(LegHandle handle, std::span<uint8_t> datagram, const Address& source, Nanos arrival) {
  Entry* const target = entry(handle);
  if (target == nullptr) return;
  // A visit must count the datagram. A leg that only relays can be visited later.
  if (!target->leg->relays()) wake(*target);
  if (target->leg->muxes() && receive_muxed(*target->leg, datagram, source, arrival)) return;
  // The datagram is also for the other leg of the bridge.
  if (target->bridge.other != nullptr && !target->bridge.other->relays()) {
    wake(legs_[index_of(target->bridge.other_handle)]);
  }
  const ReceivePath::Outcome outcome = target->leg->receive(datagram, source, arrival, events_);
  if (target->bridge.other != nullptr) target->bridge.other->receive_far(*target->leg, outcome, arrival);
  if (target->bridge.other != nullptr || target->prompt) relay(*target, outcome, arrival);
  if (outcome.source_change) {
    ++counters_.source_changes;
    // The next visit reports the new address.
    wake(*target);
  }
  if (!count_unwanted(outcome.kind)) ++counters_.packets_received;
}

/// Counts a rejected datagram. Returns true if it was rejected.
bool MediaCore::count_unwanted(Received kind) {
  if (kind == Received::malformed) ++counters_.malformed;
  if (kind == Received::unknown_source) ++counters_.unknown_sources;
  return kind == Received::malformed || kind == Received::unknown_source;
}

/// Relays a packet to the other leg of the bridge.
void MediaCore::relay(Entry& from, const ReceivePath::Outcome& received, Nanos arrival) {
  Leg* const to = from.bridge.other;
  if (to != nullptr && received.counted) {
    to->relay(*from.leg, received, arrival, batch_);
    batch_.flush();
    if (to->relay_wants_visit()) wake(legs_[index_of(from.bridge.other_handle)]);
  }
  const bool prompt = to != nullptr && to->relays();
  if (!prompt) wake(from);
  if (from.prompt == prompt) return;
  from.prompt = prompt;
  sink_.prompt(from.leg->handle(), prompt);
}

/// Handles other protocols on the RTP port. Returns true if the datagram was not RTP.
bool MediaCore::receive_muxed(Leg& leg, std::span<uint8_t> datagram, const Address& source, Nanos arrival) {
  switch (muxed_kind(datagram)) {
    case Muxed::rtp:
      return false;
    case Muxed::rtcp:
      count_unwanted(leg.receive_rtcp(datagram, source, arrival));
      return true;
    case Muxed::stun:
      receive_check(leg, datagram, source, arrival);
      return true;
    case Muxed::dtls:
      if (key_exchange_ != nullptr && leg.ice() != nullptr && leg.ice()->admits_keys(source, arrival)) {
        key_exchange_->received(leg.name(), datagram);
      }
      return true;
    case Muxed::unknown:
      ++counters_.malformed;
      return true;
  }
  return true;
}

void MediaCore::receive_check(Leg& leg, Bytes datagram, const Address& source, Nanos arrival) {
  if (leg.ice() == nullptr) return;
  const IceLite::Outcome outcome = leg.ice()->receive(datagram, source, arrival);
  if (!outcome.answer.empty()) sink_.send(leg.handle(), source, outcome.answer);
  if (outcome.moved) leg.follow_peer(arrival);
  // Checks repeat the report, because the queue of the key exchange may have been full.
  const bool again = outcome.from_peer && leg.ice()->admits_keys(source, arrival);
  if (outcome.moved || again) report_reachable(leg.name(), source);
}

bool MediaCore::can_reach(LegHandle handle) const {
  const Leg* const found = peek(handle);
  return found != nullptr && found->receive_path().source().target().sendable();
}

bool MediaCore::is_peer(LegHandle handle, const Address& address) const {
  const Leg* const found = peek(handle);
  return found != nullptr && found->receive_path().source().target() == address;
}

void MediaCore::send_to_peer(LegHandle handle, Bytes datagram) {
  if (can_reach(handle)) sink_.send(handle, peek(handle)->receive_path().source().target(), datagram);
}

void MediaCore::receive_rtcp(LegHandle handle, std::span<uint8_t> datagram, const Address& source,
                             Nanos arrival) {
  if (Entry* const target = entry(handle)) {
    count_unwanted(target->leg->receive_rtcp(datagram, source, arrival));
  }
}

void MediaCore::tick(Nanos now) {
  wake_due(now);
  constexpr size_t half = kSlots / 2;
  const auto slot = static_cast<size_t>(ticks_ % kSlots);
  for (Room* const room : rooms_of_slot_[slot]) room->frame(now, events_);
  const std::vector<Leg*>& due = slots_[slot];
  halves_[slot].clear();  // discard entries left over when the tick half a frame later was skipped
  for (size_t i = 0; i < due.size(); ++i) {
    for (size_t ahead = 0; ahead < Leg::kFrameSteps && i + ahead + 1 < due.size(); ++ahead) {
      due[i + ahead + 1]->expect_frame(ahead);
    }
    const bool idle = due[i]->frame(now, batch_, events_);
    if (idle) idle_.push_back(due[i]->handle());
    expect_half(*due[i], slot);
  }
  send_halves(halves_[(slot + half) % kSlots]);
  batch_.flush();
  ++ticks_;
  lay_down_idle(now);
  if (!moving_.empty()) move_to_next_slots(slot);
}

/// Schedules a check half a frame later if the leg may then have another packet to send.
void MediaCore::expect_half(const Leg& leg, size_t slot) {
  if (leg.needs_half_frames() && halves_[slot].size() < kLegsInSlot) halves_[slot].push_back(leg.handle());
}

/// Sends packets of legs that were visited half a frame earlier. Legs that have left or gone to sleep are
/// skipped.
void MediaCore::send_halves(std::vector<LegHandle>& due) {
  for (const LegHandle handle : due) {
    Entry* const found = entry(handle);
    if (found != nullptr && !found->idle && found->leg->needs_half_frames()) found->leg->half_frame(batch_);
  }
  due.clear();
}

int64_t MediaCore::idle_ticks(int64_t limit) const {
  const auto idle = [this](int64_t tick) {
    const auto slot = static_cast<size_t>(tick % kSlots);
    return slots_[slot].empty() && rooms_of_slot_[slot].empty() &&
           halves_[(slot + kSlots / 2) % kSlots].empty();
  };
  int64_t ticks = 0;
  while (ticks < limit && idle(ticks_ + ticks)) ++ticks;
  return ticks;
}

void MediaCore::skip_ticks(int64_t count) {
  counters_.skipped_ticks += static_cast<uint64_t>(count);
  const int64_t whole = count / kSlots;
  const int64_t rest = count % kSlots;
  for (int64_t slot = 0; slot < kSlots; ++slot) {
    const int64_t ahead = (slot - ticks_ % kSlots + kSlots) % kSlots;
    const auto frames = static_cast<uint32_t>(whole + (ahead < rest ? 1 : 0));
    for (Leg* const missed : slots_[static_cast<size_t>(slot)]) {
      if (frames > 0) missed->skip_frames(frames);
    }
  }
  ticks_ += count;
}

}  // namespace carillon
