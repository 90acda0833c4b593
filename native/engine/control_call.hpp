// How the media threads call the control thread for events that wait.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "core/base/time.hpp"

namespace carillon {

class ControlCall {
 public:
  /// `wake` is called on a media thread.
  explicit ControlCall(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Media threads: what was put before will be taken. False: the last call is too short a time ago.
  bool call(Nanos now) {
    if (now - called_at_.load(std::memory_order_relaxed) < kInterval) return false;
    if (pending_.exchange(true, std::memory_order_acq_rel)) return true;
    called_at_.store(now, std::memory_order_relaxed);
    wake_();
    return true;
  }

  /// Control thread, before it takes events.
  void answered() { pending_.exchange(false, std::memory_order_acq_rel); }

 private:
  static constexpr Nanos kInterval = 5 * kMillisecond;

  std::function<void()> wake_;
  std::atomic<bool> pending_{false};
  std::atomic<Nanos> called_at_{Nanos{}};
};

}  // namespace carillon
