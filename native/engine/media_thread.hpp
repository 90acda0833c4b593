// The clock and the thread around a MediaLoop: a tick each millisecond on an absolute time line. Ticks that
// have nothing to do are slept over, and run with the next one that has; with nothing to come, the thread
// rests until a command or a datagram wakes it.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "engine/control_call.hpp"
#include "engine/lateness.hpp"
#include "engine/media_loop.hpp"
#include "engine/tick_pace.hpp"

namespace carillon {

/// CLOCK_MONOTONIC.
Nanos monotonic_now();

class MediaThread {
 public:
  /// `use_ring`: many sockets by one system call, where the kernel can (DatagramRing).
  MediaThread(MediaLoop& loop, ControlCall& control, bool use_ring);
  ~MediaThread();
  MediaThread(const MediaThread&) = delete;
  MediaThread& operator=(const MediaThread&) = delete;

  /// Control thread: a command waits. It is run within 5 ms.
  void command_posted();
  void stop();

  struct Load {
    /// Part of the time spent working, 0..1, over the last second, and the legs that it had then.
    double busy = 0;
    uint64_t legs = 0;
  };
  [[nodiscard]] Load load() const { return load_.read(); }

  struct Status {
    bool running;
    double late_p99_us;
    Load load;
    /// "fifo", "nice" or "normal".
    std::string scheduling;
    /// Many sockets by one system call.
    bool ring;
    uint64_t packets_received;
    uint64_t packets_sent;
    uint64_t unknown_sources;
    uint64_t malformed;
    uint64_t source_changes;
    uint64_t unknown_handles;
    uint64_t skipped_ticks;
    void count(const CoreCounters& counters);
  };
  [[nodiscard]] Status status() const;

 private:
  enum class Scheduling : uint8_t { normal, nice, fifo };

  void run();
  bool rest();
  void sleep_over_idle_ticks();
  void relay_until(Nanos due);
  void run_ticks(Nanos woke);
  void call_control(Nanos now);
  void publish(Nanos now);
  Scheduling raise_priority();

  // Given.
  MediaLoop& loop_;
  ControlCall& control_;
  bool use_ring_;
  // State of the media thread.
  Nanos published_at_{};
  Nanos commands_until_{};
  Nanos wall_offset_{};
  Nanos busy_time_{};
  Nanos busy_since_{};
  TickPace pace_;
  /// Ticks before that have nothing to do.
  Nanos idle_until_{};
  /// When sockets were looked at last.
  Nanos looked_at_{};
  // Shared.
  std::atomic<bool> stopping_{false};
  /// The bell must be rung for a command.
  std::atomic<bool> resting_{false};
  std::atomic<bool> ring_{false};
  std::atomic<Scheduling> scheduling_{Scheduling::normal};
  SequenceCell<Load> load_;
  Lateness lateness_;
  SequenceCell<CoreCounters> counters_;
  std::thread thread_;
};

}  // namespace carillon
