// Queue of commands from the control thread to a worker thread. An executed command returns to the control
// thread together with the objects it removed, and is destroyed there. A media thread thus never allocates or
// frees memory.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <utility>

#include "engine/spsc_ring.hpp"

namespace carillon {

template <typename Loop>
class CommandQueue {
 public:
  static constexpr size_t kCapacity = 8192;

  class Command {
   public:
    virtual ~Command() = default;
    /// Returns false if the command must wait for another thread. Later commands then wait too.
    [[nodiscard]] virtual bool ready(const Loop& loop) const = 0;
    virtual void run(Loop& loop) = 0;
  };

  /// Creates a command that calls function(Loop&). The function may move objects into and out of its
  /// captures.
  template <typename Function>
  static std::unique_ptr<Command> make(Function function) {
    const auto at_once = [](const Loop&) { return true; };
    return make_waiting(at_once, std::move(function));
  }
  /// Creates a command that waits until `ready(const Loop&)` returns true.
  template <typename Ready, typename Function>
  static std::unique_ptr<Command> make_waiting(Ready ready, Function function) {
    class FunctionCommand final : public Command {
     public:
      FunctionCommand(Ready ready, Function function)
          : ready_(std::move(ready)), function_(std::move(function)) {}
      [[nodiscard]] bool ready(const Loop& loop) const override { return ready_(loop); }
      void run(Loop& loop) override { function_(loop); }

     private:
      Ready ready_;
      Function function_;
    };
    return std::make_unique<FunctionCommand>(std::move(ready), std::move(function));
  }

  // --- control thread ---
  /// Posts a command. If kCapacity commands are in flight, commands wait in order until the next post() or
  /// flush().
  void post(std::unique_ptr<Command> command) {
    flush();
    if (!waiting_.empty() || !push(command)) waiting_.push_back(std::move(command));
    some_wait_.store(!waiting_.empty(), std::memory_order_release);
  }
  /// Posts waiting commands. Returns true if there were any; the worker thread may be resting.
  bool flush() {
    dispose_spent();
    const size_t before = waiting_.size();
    go_on();
    some_wait_.store(!waiting_.empty(), std::memory_order_release);
    return waiting_.size() < before;
  }
  void dispose_spent() {
    while (take_spent()) {
    }
  }
  /// Alternative to flush(): returns one executed command, or null if there is none.
  std::unique_ptr<Command> take_spent() {
    std::unique_ptr<Command> command = spent_.pop();
    if (command) --in_flight_;
    return command;
  }
  /// Posts like post(), for callers that already call take_spent().
  void post_on(std::unique_ptr<Command> command) {
    go_on();
    if (!waiting_.empty() || !push(command)) waiting_.push_back(std::move(command));
  }
  /// Posts like post_on(), but drops the command if kCapacity commands are in flight. Returns false then.
  bool post_or_drop(std::unique_ptr<Command> command) {
    go_on();
    return waiting_.empty() && push(command);
  }
  /// Posts waiting commands, for callers that already call take_spent().
  void go_on() {
    while (!waiting_.empty() && push(waiting_.front())) waiting_.pop_front();
  }

  // --- worker thread ---
  /// Returns true if the control thread should call flush().
  [[nodiscard]] bool some_wait() const { return some_wait_.load(std::memory_order_acquire); }
  [[nodiscard]] bool empty() const { return pending_.empty(); }
  /// Executes all ready commands. Returns true if any was executed.
  bool run_all(Loop& loop) {
    bool any = false;
    while (const Command* const next = pending_.front()) {
      if (!next->ready(loop)) break;
      any = true;
      std::unique_ptr<Command> command = pending_.pop();
      command->run(loop);
      // Always fits, because at most kCapacity commands are in flight.
      spent_.push(command);
    }
    return any;
  }

 private:
  /// Returns false and leaves the command unchanged if kCapacity commands are in flight.
  bool push(std::unique_ptr<Command>& command) {
    if (in_flight_ == kCapacity || !pending_.push(command)) return false;
    ++in_flight_;
    return true;
  }

  SpscRing<Command> pending_{kCapacity};
  SpscRing<Command> spent_{kCapacity};
  /// Control thread: commands in both rings and the one that the worker thread executes.
  size_t in_flight_ = 0;
  std::deque<std::unique_ptr<Command>> waiting_;
  std::atomic<bool> some_wait_{false};
};

}  // namespace carillon
