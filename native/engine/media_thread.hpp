// Clock and thread of a MediaLoop: one tick per millisecond on an absolute time line. Idle ticks are skipped
// and run together with the next active one. Without pending work, the thread rests until a command or a
// datagram wakes it.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "engine/control_call.hpp"
#include "engine/lateness.hpp"
#include "engine/media_loop.hpp"
#include "engine/tick_pace.hpp"

namespace carillon {

/// Returns the time of CLOCK_MONOTONIC.
Nanos monotonic_now();

class MediaThread {
 public:
  /// `use_ring`: use one system call for many sockets if the kernel supports it (DatagramRing).
  MediaThread(MediaLoop& loop, ControlCall& control, bool use_ring);
  ~MediaThread();
  MediaThread(const MediaThread&) = delete;
  MediaThread& operator=(const MediaThread&) = delete;

  /// Control thread: announces a command, which is run within 5 ms.
  void command_posted();
  void stop();

  struct Load {
    /// Fraction of time (0..1) spent working over the last second, and the number of legs at that time.
    double busy = 0;
    uint64_t legs = 0;
  };
  [[nodiscard]] Load load() const { return load_.read(); }

  struct Status {
    bool running;
    double late_p99_us;
    Load load;
    /// Scheduling policy: "fifo", "nice" or "normal".
    std::string scheduling;
    /// True if one system call serves many sockets.
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
  [[nodiscard]] bool wants_control() const;
  void call_control(Nanos now);
  void publish(Nanos now);
  Scheduling raise_priority();

  MediaLoop& loop_;
  ControlCall& control_;
  bool use_ring_;
  // Media thread state.
  Nanos published_at_{};
  Nanos commands_until_{};
  Nanos wall_offset_{};
  Nanos busy_time_{};
  Nanos busy_since_{};
  TickPace pace_;
  /// Time before which all ticks are idle.
  Nanos idle_until_{};
  /// Time at which the sockets were last polled.
  Nanos looked_at_{};
  // Shared state.
  std::atomic<bool> stopping_{false};
  /// True if a command must wake the thread through the eventfd.
  std::atomic<bool> resting_{false};
  std::atomic<bool> ring_{false};
  std::atomic<Scheduling> scheduling_{Scheduling::normal};
  SequenceCell<Load> load_;
  Lateness lateness_;
  SequenceCell<CoreCounters> counters_;
  std::thread thread_;
};

}  // namespace carillon
