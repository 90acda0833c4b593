#include "engine/media_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace carillon {

namespace {

constexpr int kFifoPriority = 10;
constexpr int kNiceness = -11;
/// Behind by more, the lost time is given up: peers would have to throw such a burst away.
constexpr int64_t kMaxCatchUpTicks = 60;
constexpr int64_t kTicksPerWake = 5;
constexpr int64_t kTicksPerPublish = 100;
/// Without legs nobody hears a tick: the thread only looks for commands, five ticks at a time.
constexpr Nanos kIdleSleep = 4 * kTick;

Nanos read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return Nanos{time.tv_sec} * kSecond + time.tv_nsec;
}

void sleep_until(Nanos due) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(due / kSecond);
  time.tv_nsec = static_cast<long>(due % kSecond);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

}  // namespace

Nanos monotonic_now() { return read_clock(CLOCK_MONOTONIC); }

MediaThread::MediaThread(MediaLoop& loop, std::function<void()> wake)
    : loop_(loop), wake_(std::move(wake)), thread_([this] { run(); }) {}

MediaThread::~MediaThread() { stop(); }

void MediaThread::stop() {
  stopping_.store(true, std::memory_order_release);
  if (thread_.joinable()) thread_.join();
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
  Nanos due = (monotonic_now() / kTick + 1) * kTick;
  busy_since_ = due;
  while (!stopping_.load(std::memory_order_acquire)) {
    const Nanos wake_at = loop_.core().leg_count() == 0 ? due + kIdleSleep : due;
    sleep_until(wake_at);
    const Nanos now = monotonic_now();
    lateness_.record(now - wake_at, now);
    run_ticks(due, now);
    busy_time_ += monotonic_now() - now;
  }
}

void MediaThread::run_ticks(Nanos& due, Nanos now) {
  const int64_t behind = (now - due) / kTick;
  if (behind > kMaxCatchUpTicks) {
    loop_.core().skip_ticks(behind);
    due += behind * kTick;
  }
  for (; due <= now; due += kTick, ++tick_) {
    if (tick_ % kTicksPerPublish == 0) publish(now);
    loop_.run_commands(now);
    loop_.drain_sockets(now, wall_offset_);
    loop_.tick(due);
    if (tick_ % kTicksPerWake != 0 || loop_.events().empty()) continue;
    if (!wake_pending_.exchange(true, std::memory_order_acq_rel)) wake_();
  }
}

void MediaThread::publish(Nanos now) {
  wall_offset_ = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
  counters_.publish(loop_.core().counters());
  if (now - busy_since_ >= kSecond) {
    busy_.store(static_cast<double>(busy_time_) / static_cast<double>(now - busy_since_),
                std::memory_order_relaxed);
    busy_time_ = 0;
    busy_since_ = now;
  }
}

MediaThread::Status MediaThread::status() const {
  const CoreCounters counters = counters_.read();
  Status status{};
  status.running = !stopping_.load(std::memory_order_relaxed);
  status.late_p99_us = lateness_.quantile_us(0.99);
  status.busy = busy_.load(std::memory_order_relaxed);
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
  status.packets_received = counters.packets_received;
  status.packets_sent = counters.packets_sent;
  status.unknown_sources = counters.unknown_sources;
  status.malformed = counters.malformed;
  status.source_changes = counters.source_changes;
  status.unknown_handles = counters.unknown_handles;
  status.skipped_ticks = counters.skipped_ticks;
  return status;
}

}  // namespace carillon
