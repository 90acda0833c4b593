// Stream socket thread: every millisecond it forwards messages of the media threads, executes commands of the
// control thread and serves ready sockets.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/command_queue.hpp"
#include "net/socket_feed.hpp"
#include "net/stream_socket.hpp"

namespace carillon {

/// State of the thread, which commands receive as their argument.
class SocketLoop {
 public:
  static constexpr size_t kEventBytes = size_t{2} << 20;
  /// Maximum number of sockets that continue their TLS handshake in a turn. A step takes 1 to 2 ms, in which
  /// the thread forwards no audio.
  static constexpr size_t kHandshakesATurn = 4;

  explicit SocketLoop(std::shared_ptr<MessageBudgets> budgets);

  /// Sets the TLS implementation. Without it, TLS connections fail.
  void secure_by(SecureTransports secure) { secure_ = std::move(secure); }
  void open(uint32_t handle, SocketOptions options, std::shared_ptr<SocketMailbox> mailbox);
  /// Returns null if the socket has ended.
  StreamSocket* find(uint32_t handle);
  void add_feed(std::shared_ptr<SocketFeed> feed) { feeds_.push_back(std::move(feed)); }
  [[nodiscard]] Nanos now() const { return now_; }

  // --- stream socket thread ---
  [[nodiscard]] bool idle() const { return sockets_.empty(); }
  void turn(Nanos now, CommandQueue<SocketLoop>& commands);
  [[nodiscard]] bool has_events() const { return !events_.empty(); }
  void drop_all() { sockets_.clear(); }

  // --- control thread ---
  size_t take_events(std::span<uint8_t> out) { return events_.take(out); }
  [[nodiscard]] const SocketWorld::Counters& counters() const { return world_.counters; }

 private:
  void deliver(size_t fed);
  void look_after_ready();
  void look_after_all();

  SecureTransports secure_;
  std::shared_ptr<MessageBudgets> budgets_;
  FileDescriptor epoll_;
  RecordRing events_{kEventBytes};
  SocketWorld world_;
  std::unordered_map<uint32_t, std::unique_ptr<StreamSocket>> sockets_;
  std::vector<std::shared_ptr<SocketFeed>> feeds_;
  std::vector<uint8_t> batch_;
  Nanos now_{};
  Nanos looked_at_all_{};
};

class StreamThread {
 public:
  /// `wake` is called on the thread when events are pending and take_events() was called since the last
  /// wake-up. `budgets`: shared by all threads. Throws a std::system_error if descriptors or threads are
  /// exhausted. The thread starts here, because a failure at the first use would end the process.
  explicit StreamThread(std::function<void()> wake,
                        std::shared_ptr<MessageBudgets> budgets = std::make_shared<MessageBudgets>());
  ~StreamThread();
  StreamThread(const StreamThread&) = delete;
  StreamThread& operator=(const StreamThread&) = delete;

  /// Runs `function(SocketLoop&)` on the thread.
  template <typename Function>
  void post(Function function) {
    submit(CommandQueue<SocketLoop>::make(std::move(function)));
  }
  size_t take_events(std::span<uint8_t> out);
  [[nodiscard]] const SocketWorld::Counters& counters() const { return loop_.counters(); }
  /// Fraction of time (0..1) spent working over the last second.
  [[nodiscard]] double busy() const { return busy_.load(std::memory_order_relaxed); }
  /// Closes all sockets and ends the thread.
  void stop();

 private:
  void submit(std::unique_ptr<CommandQueue<SocketLoop>::Command> command);
  void run();
  void wait_for_work();
  void measure(Nanos began);
  void ring_bell() const;

  std::function<void()> wake_;
  SocketLoop loop_;
  CommandQueue<SocketLoop> commands_;
  /// Wakes the thread when it has no sockets.
  FileDescriptor bell_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> wake_pending_{false};
  std::atomic<double> busy_{0};
  // Thread state.
  Nanos busy_time_{};
  Nanos busy_since_{};
  std::thread thread_;  // last, so that it starts after all other members are initialized
};

}  // namespace carillon
