// MediaEngine: assignment of legs and rooms to threads.
#include <algorithm>
#include <limits>

#include "engine/media_engine.hpp"

namespace carillon {

namespace {
/// Assumed load of a leg that has not been measured yet, as a fraction of a thread's time.
constexpr double kLegLoad = 250e-6;
}  // namespace

/// Returns the measured load plus the estimate for legs added since. A thread that is so far behind that
/// commands wait for its queue gets no more legs, which bounds the number of these commands.
double MediaEngine::load(const Thread& thread) const {
  if (thread.loop.commands_behind()) return std::numeric_limits<double>::infinity();
  const MediaThread::Load measured = thread.thread ? thread.thread->load() : MediaThread::Load{};
  const double added = static_cast<double>(thread.legs) - static_cast<double>(measured.legs);
  return measured.busy + std::max(0.0, added) * kLegLoad;
}

double MediaEngine::busy() const {
  double least = 1;
  for (const auto& thread : threads_) {
    least = std::min(least, thread->thread ? thread->thread->load().busy : 0.0);
  }
  return least;
}

MediaEngine::Thread& MediaEngine::least_loaded() {
  Thread* best = threads_.front().get();
  double least = load(*best);
  for (size_t i = 1; i < threads_.size() && least >= options_.little; ++i) {
    const double other = load(*threads_[i]);
    if (other >= least) continue;
    best = threads_[i].get();
    least = other;
  }
  return *best;
}

/// Returns null if all threads are busy.
MediaEngine::Thread* MediaEngine::thread_for(LegHandle near) {
  const Known* const known = find(near);
  if (known != nullptr && load(*known->thread) <= options_.max_busy) return known->thread;
  Thread& best = least_loaded();
  return load(best) <= options_.max_busy ? &best : nullptr;
}

size_t MediaEngine::thread_of(LegHandle leg) const {
  const auto found = legs_.find(leg);
  if (found == legs_.end()) return threads_.size();
  const auto is_its = [&](const auto& thread) { return thread.get() == found->second.thread; };
  return static_cast<size_t>(std::ranges::find_if(threads_, is_its) - threads_.begin());
}

/// Moves a leg. Returns false if the target thread is full.
bool MediaEngine::move(Known& leg, Thread& to) {
  if (leg.thread == &to) return true;
  const std::optional<LegHandle> at = to.handles.take();
  if (!at) return false;
  const auto parcel = std::make_shared<MediaLoop::Departed>();
  Thread& from = *leg.thread;
  const LegHandle before = leg.at;
  {
    const std::lock_guard lock(legs_lock_);
    leg.thread = &to;
    leg.at = *at;
  }
  --from.legs;
  ++to.legs;
  submit(from, CommandQueue<MediaLoop>::make(
                   [before, parcel](MediaLoop& loop) { loop.release_leg(before, *parcel); }));
  submit(to, CommandQueue<MediaLoop>::make_waiting(
                 [parcel](const MediaLoop& loop) { return loop.may_receive(*parcel); },
                 [at = *at, parcel](MediaLoop& loop) { loop.receive_leg(at, *parcel); }));
  from.handles.give_back(before);
  return true;
}

/// Moves two legs to one thread, if possible to the less loaded one.
bool MediaEngine::bring_together(LegHandle a, LegHandle b) {
  Known* const first = find(a);
  Known* const second = find(b);
  if (first == nullptr || second == nullptr) return false;
  if (first->thread == second->thread) return true;
  const bool to_first = load(*first->thread) <= load(*second->thread);
  Thread& one = *first->thread;
  Thread& other = *second->thread;
  return to_first ? move(*second, one) || move(*first, other) : move(*first, other) || move(*second, one);
}

// ---------------------------------------------------------------- rooms

void MediaEngine::open_room(RoomHandle room) { rooms_[room] = {}; }

MediaEngine::Thread& MediaEngine::settle(RoomHandle room, OpenRoom& place, Thread& wanted) {
  if (place.thread != nullptr) return *place.thread;
  place.thread = &wanted;
  submit(wanted,
         CommandQueue<MediaLoop>::make([made = std::make_unique<Room>(room)](MediaLoop& loop) mutable {
           if (!loop.core().add_room(made)) loop.core().missed();
         }));
  return wanted;
}

void MediaEngine::close_room(RoomHandle room) {
  const auto found = rooms_.find(room);
  if (found == rooms_.end()) {
    missed();
    return;
  }
  if (found->second.thread != nullptr) {
    at_room(room, [room, removed = std::unique_ptr<Room>()](MediaLoop& loop) mutable {
      removed = loop.core().remove_room(room);
      if (!removed) loop.core().missed();
    });
  }
  rooms_.erase(found);
}

void MediaEngine::join(RoomHandle room, LegHandle leg, std::unique_ptr<RoomMember> member) {
  const auto found = rooms_.find(room);
  Known* const known = find(leg);
  if (found == rooms_.end() || known == nullptr ||
      !move(*known, settle(room, found->second, *known->thread))) {
    missed();
    return;
  }
  at_leg(leg, [room, joining = std::move(member)](MediaLoop& loop, LegHandle at) mutable {
    if (!loop.core().join(room, at, joining)) loop.core().missed();
  });
}

}  // namespace carillon
