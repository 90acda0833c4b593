// Rate-limited wake-up of the control thread by media threads that have events.
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

  /// Media threads: requests processing of pending events. Returns false if the last wake-up was too recent.
  bool call(Nanos now) {
    if (now - called_at_.load(std::memory_order_relaxed) < kInterval) return false;
    if (pending_.exchange(true, std::memory_order_acq_rel)) return true;
    called_at_.store(now, std::memory_order_relaxed);
    wake_();
    return true;
  }

  /// Control thread: call before taking events.
  void answered() { pending_.exchange(false, std::memory_order_acq_rel); }

 private:
  static constexpr Nanos kInterval = 5 * kMillisecond;

  std::function<void()> wake_;
  std::atomic<bool> pending_{false};
  std::atomic<Nanos> called_at_{Nanos{}};
};

}  // namespace carillon
