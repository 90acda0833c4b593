// Commands from the control thread to a worker thread. A command that has run travels back, with whatever it
// took out of the worker's world, and is destroyed where it was made: a media thread neither allocates nor
// frees.
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
    virtual void run(Loop& loop) = 0;
  };

  /// `function` is called as function(Loop&); it may move objects into and out of its captures.
  template <typename Function>
  static std::unique_ptr<Command> make(Function function) {
    class FunctionCommand final : public Command {
     public:
      explicit FunctionCommand(Function given) : function_(std::move(given)) {}
      void run(Loop& loop) override { function_(loop); }

     private:
      Function function_;
    };
    return std::make_unique<FunctionCommand>(std::move(function));
  }

  // --- control thread ---
  /// Commands that find the ring full wait, and keep their order, until the next post() or flush().
  void post(std::unique_ptr<Command> command) {
    flush();
    if (!waiting_.empty() || !pending_.push(command)) waiting_.push_back(std::move(command));
    some_wait_.store(!waiting_.empty(), std::memory_order_release);
  }
  void flush() {
    dispose_spent();
    while (!waiting_.empty() && pending_.push(waiting_.front())) waiting_.pop_front();
    some_wait_.store(!waiting_.empty(), std::memory_order_release);
  }
  void dispose_spent() {
    while (spent_.pop()) {
    }
  }

  // --- worker thread ---
  /// The control thread should flush().
  [[nodiscard]] bool some_wait() const { return some_wait_.load(std::memory_order_acquire); }
  [[nodiscard]] bool empty() const { return pending_.empty(); }
  void run_all(Loop& loop) {
    while (std::unique_ptr<Command> command = pending_.pop()) {
      command->run(loop);
      // Always fits: no more commands are out than kCapacity, because post() empties the spent ring first.
      spent_.push(command);
    }
  }

 private:
  SpscRing<Command> pending_{kCapacity};
  SpscRing<Command> spent_{kCapacity};
  std::deque<std::unique_ptr<Command>> waiting_;
  std::atomic<bool> some_wait_{false};
};

}  // namespace carillon
