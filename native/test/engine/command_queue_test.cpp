#include "engine/command_queue.hpp"

#include <doctest/doctest.h>

namespace carillon {

namespace {

struct Loop {
  size_t executed = 0;
};
using Queue = CommandQueue<Loop>;

/// Counts the commands that are destroyed while the worker thread runs.
struct Watched {
  size_t alive = 0;
  size_t destroyed_by_worker = 0;
  bool worker_runs = false;

  struct Mark {
    explicit Mark(Watched& watched) : of(&watched) { ++of->alive; }
    Mark(Mark&& other) noexcept : of(std::exchange(other.of, nullptr)) {}
    Mark& operator=(Mark&&) = delete;
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    ~Mark() {
      if (of == nullptr) return;
      --of->alive;
      if (of->worker_runs) ++of->destroyed_by_worker;
    }
    Watched* of;
  };

  std::unique_ptr<Queue::Command> command() {
    return Queue::make([mark = Mark(*this)](Loop& loop) { ++loop.executed; });
  }
  void run(Queue& queue, Loop& loop) {
    worker_runs = true;
    queue.run_all(loop);
    worker_runs = false;
  }
};

}  // namespace

TEST_SUITE("command queue") {
  TEST_CASE("destroys no command on the worker thread, however late the control thread collects them") {
    Watched watched;
    Loop loop;
    Queue queue;
    constexpr size_t kMore = 10;
    for (size_t i = 0; i < Queue::kCapacity; ++i) queue.post_on(watched.command());
    watched.run(queue, loop);
    for (size_t i = 0; i < kMore; ++i) queue.post_on(watched.command());
    CHECK_FALSE(queue.post_or_drop(watched.command()));
    watched.run(queue, loop);
    CHECK(watched.destroyed_by_worker == 0);
    while (queue.take_spent()) {
    }
    queue.go_on();
    watched.run(queue, loop);
    while (queue.take_spent()) {
    }
    CHECK(loop.executed == Queue::kCapacity + kMore);
    CHECK(watched.alive == 0);
    CHECK(watched.destroyed_by_worker == 0);
  }
}

}  // namespace carillon
