#include "engine/media_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace carillon {

namespace {

constexpr int kFifoPriority = 10;
constexpr int kNiceness = -11;
constexpr Nanos kPublishInterval = 100 * kMillisecond;
/// Maximum number of consecutive idle ticks to sleep. Bounds the delay of commands and of resting sockets.
constexpr int64_t kMaxIdleTicks = 4;
/// Time for which the thread polls for commands before it rests again, because commands arrive in groups.
/// Waking the thread through the eventfd costs the control thread as much as a wake-up costs this one.
constexpr Nanos kMoreCommands = 20 * kMillisecond;
/// Interval between polls for relayed packets. A wake-up costs more than processing several packets.
constexpr Nanos kRelayInterval = 400 * kMicrosecond;
/// Interval when nearly every poll finds packets. The kernel then does not notify the thread, which avoids
/// extra wake-ups.
constexpr Nanos kBusyRelayInterval = 800 * kMicrosecond;
/// Polls this close before a tick are left to the tick.
constexpr Nanos kAlmostTick = 100 * kMicrosecond;
/// Maximum age of the published status.
constexpr Nanos kLongestRest = kSecond;

Nanos read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * kSecond + Nanos(time.tv_nsec);
}

void sleep_until(Nanos due) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(due / kSecond);
  time.tv_nsec = static_cast<long>((due % kSecond).count());
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

}  // namespace

Nanos monotonic_now() { return read_clock(CLOCK_MONOTONIC); }

MediaThread::MediaThread(MediaLoop& loop, ControlCall& control, bool use_ring)
    : loop_(loop), control_(control), use_ring_(use_ring), thread_([this] { run(); }) {}

MediaThread::~MediaThread() { stop(); }

void MediaThread::stop() {
  stopping_.store(true, std::memory_order_release);
  loop_.sockets().resting().ring();
  if (thread_.joinable()) thread_.join();
}

void MediaThread::command_posted() {
  // Both sides use exchange(), so either the thread sees the command before it rests, or this side sees that
  // it rests.
  if (resting_.exchange(false, std::memory_order_acq_rel)) loop_.sockets().resting().ring();
}

MediaThread::Scheduling MediaThread::raise_priority() {
  pthread_setname_np(pthread_self(), "carillon-media");
  sched_param parameter{};
  parameter.sched_priority = kFifoPriority;
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == 0) return Scheduling::fifo;
  const auto thread_id = static_cast<id_t>(syscall(SYS_gettid));
  if (setpriority(PRIO_PROCESS, thread_id, kNiceness) == 0) return Scheduling::nice;
  return Scheduling::normal;
}

void MediaThread::run() {
  scheduling_.store(raise_priority(), std::memory_order_relaxed);
  if (use_ring_) ring_.store(loop_.sockets().begin_ring(), std::memory_order_relaxed);
  pace_.begin(monotonic_now());
  busy_since_ = pace_.due();
  loop_.core().begin_at(pace_.due() / kTick);
  while (!stopping_.load(std::memory_order_acquire)) {
    if (!rest()) sleep_over_idle_ticks();
    const Nanos now = monotonic_now();
    looked_at_ = now;
    run_ticks(now);
    call_control(now);
    busy_time_ += monotonic_now() - now;
  }
  loop_.sockets().end_ring();
}

/// Waits until there may be work and returns true. Returns false immediately if ticks must run on schedule.
bool MediaThread::rest() {
  const Nanos began = monotonic_now();
  const Nanos alarm = loop_.core().next_alarm().value_or(began + kLongestRest);
  if (!loop_.at_rest() || alarm - began < kTick || loop_.sockets().any_prompt(began)) return false;
  if (wants_control() || began < commands_until_) return false;
  publish(began);
  resting_.exchange(true, std::memory_order_acq_rel);
  if (!loop_.commands_wait()) loop_.sockets().resting().wait(std::min(alarm - began, kLongestRest));
  resting_.exchange(false, std::memory_order_acq_rel);
  const Nanos now = monotonic_now();
  loop_.pass(pace_.pass(now), now, wall_offset_);
  idle_until_ = now;
  commands_until_ = now + (loop_.commands_wait() ? kMoreCommands : Nanos{});
  return true;
}

void MediaThread::sleep_over_idle_ticks() {
  const bool soon = wants_control() || loop_.commands_wait();
  idle_until_ = pace_.due() + loop_.idle_ticks(soon ? 0 : kMaxIdleTicks) * kTick;
  const Nanos wake_at = std::max(idle_until_, pace_.at());
  const Nanos now = monotonic_now();
  if (now >= wake_at) return;
  if (loop_.sockets().any_prompt(now)) relay_until(wake_at);
  sleep_until(wake_at);
}

/// Relays packets between ticks. Packets that arrive shortly after each other share a wake-up. If nearly
/// every poll finds some, the thread polls by time only.
void MediaThread::relay_until(Nanos due) {
  for (Nanos began = monotonic_now(); due - began > kAlmostTick; began = monotonic_now()) {
    const bool many = loop_.sockets().many_prompt();
    if (many) {
      const Nanos next_check = looked_at_ + kBusyRelayInterval;
      if (due - next_check < kBusyRelayInterval / 2) return;
      sleep_until(next_check);
    } else {
      loop_.sockets().resting().wait(due - began);
    }
    const Nanos now = looked_at_ = monotonic_now();
    if (now >= due) return;
    loop_.drain_prompt(now, wall_offset_);
    busy_time_ += monotonic_now() - now;
    if (!many) sleep_until(std::min(due, now + kRelayInterval));
  }
}

void MediaThread::run_ticks(Nanos woke) {
  if (woke - published_at_ >= kPublishInterval) publish(woke);
  if (const int64_t ticks = pace_.give_up(woke); ticks > 0) loop_.catch_up(ticks, woke, wall_offset_);
  pace_.run(monotonic_now, [this](Nanos due, Nanos now) {
    if (due >= idle_until_) lateness_.record(now - due, now);
    if (loop_.run_commands(now)) commands_until_ = now + kMoreCommands;
    loop_.drain_sockets(now, wall_offset_);
    loop_.tick(due);
  });
}

/// Returns true if there are events, or commands that wait for space in the queue.
bool MediaThread::wants_control() const { return loop_.events().fresh() || loop_.commands().some_wait(); }

void MediaThread::call_control(Nanos now) {
  if (wants_control() && control_.call(now)) loop_.events().called();
}

void MediaThread::publish(Nanos now) {
  published_at_ = now;
  wall_offset_ = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
  counters_.publish(loop_.core().counters());
  if (now - busy_since_ >= kSecond) {
    load_.publish(
        {in_milliseconds(busy_time_) / in_milliseconds(now - busy_since_), loop_.core().leg_count()});
    busy_time_ = {};
    busy_since_ = now;
  }
}

void MediaThread::Status::count(const CoreCounters& counters) {
  packets_received = counters.packets_received;
  packets_sent = counters.packets_sent;
  unknown_sources = counters.unknown_sources;
  malformed = counters.malformed;
  source_changes = counters.source_changes;
  unknown_handles = counters.unknown_handles;
  skipped_ticks = counters.skipped_ticks;
}

MediaThread::Status MediaThread::status() const {
  Status status{};
  status.running = !stopping_.load(std::memory_order_relaxed);
  status.late_p99_us = lateness_.quantile_us(0.99);
  status.load = load();
  switch (scheduling_.load(std::memory_order_relaxed)) {
    case Scheduling::fifo:
      status.scheduling = "fifo";
      break;
    case Scheduling::nice:
      status.scheduling = "nice";
      break;
    case Scheduling::normal:
      status.scheduling = "normal";
      break;
  }
  status.ring = ring_.load(std::memory_order_relaxed);
  status.count(counters_.read());
  return status;
}

}  // namespace carillon
