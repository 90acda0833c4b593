#include "net/stream_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <array>
#include <ctime>

#include "engine/media_thread.hpp"

namespace carillon {

namespace {

/// Interval between turns. Data waits half of it on average. With 2 ms, a bot's audio barely met the limit of
/// 22 ms from its first packet. The longer interval saved only 50 us per call and second at 300 calls.
constexpr Nanos kTurn = kTick;
/// Phase of the turns: half a tick after the media thread, whose messages are then ready.
constexpr Nanos kTurnOffset = kTick / 2;
/// Interval between timeout checks of all sockets.
constexpr Nanos kLookAtAll = 5 * kMillisecond;
constexpr size_t kScratchBytes = 64 * 1024;
constexpr size_t kBatchBytes = 256 * 1024;
constexpr int kReadyAtOnce = 256;
/// Higher priority than the main thread, lower than the media threads: a late audio frame is audible, a late
/// SIP response is not.
constexpr int kNiceness = -10;

}  // namespace

// ---------------------------------------------------------------- loop

SocketLoop::SocketLoop(std::shared_ptr<MessageBudgets> budgets)
    : budgets_(std::move(budgets)),
      epoll_(made_descriptor(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      world_{events_, secure_, epoll_.get(), {}, {}, std::vector<uint8_t>(kScratchBytes), *budgets_},
      batch_(kBatchBytes) {}

void SocketLoop::open(uint32_t handle, SocketOptions options, std::shared_ptr<SocketMailbox> mailbox) {
  auto socket = std::make_unique<StreamSocket>(handle, std::move(options), std::move(mailbox), world_);
  socket->start(now_);
  sockets_[handle] = std::move(socket);
}

StreamSocket* SocketLoop::find(uint32_t handle) {
  const auto found = sockets_.find(handle);
  return found == sockets_.end() || found->second->over() ? nullptr : found->second.get();
}

void SocketLoop::turn(Nanos now, CommandQueue<SocketLoop>& commands) {
  now_ = now;
  // Messages in a feed depend on earlier commands (`start` precedes the first `media`). So take the messages
  // first, and pass them on after the commands.
  size_t fed = 0;
  for (const auto& feed : feeds_) fed += feed->ring().take(std::span(batch_).subspan(fed));
  commands.run_all(*this);
  deliver(fed);
  look_after_ready();
  if (now - looked_at_all_ >= kLookAtAll) look_after_all();
}

void SocketLoop::deliver(size_t fed) {
  for_each_record(std::span(batch_).first(fed), [this](const Record& record, std::span<uint8_t> message) {
    if (StreamSocket* const socket = find(record.handle)) socket->media(message, now_);
  });
}

void SocketLoop::look_after_ready() {
  std::array<epoll_event, kReadyAtOnce> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), kReadyAtOnce, 0);
  size_t handshakes = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<size_t>(i)];
    StreamSocket* const socket = find(static_cast<uint32_t>(event.data.u64));
    if (socket == nullptr) continue;
    // The others are reported again in the next turn.
    if (socket->is_securing() && ++handshakes > kHandshakesATurn) continue;
    socket->ready(event.events, now_);
  }
}

void SocketLoop::look_after_all() {
  looked_at_all_ = now_;
  for (auto& [handle, socket] : sockets_) socket->check_time(now_);
  std::erase_if(sockets_, [](const auto& entry) { return entry.second->over(); });
  // A feed held only by this side belongs to a media engine that no longer exists.
  std::erase_if(feeds_, [](const auto& feed) { return feed.use_count() == 1; });
}

// ---------------------------------------------------------------- thread

StreamThread::StreamThread(std::function<void()> wake, std::shared_ptr<MessageBudgets> budgets)
    : wake_(std::move(wake)),
      loop_(std::move(budgets)),
      bell_(made_descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")),
      thread_([this] { run(); }) {}

StreamThread::~StreamThread() { stop(); }

void StreamThread::stop() {
  if (stopping_.exchange(true, std::memory_order_acq_rel)) return;
  ring_bell();
  if (thread_.joinable()) thread_.join();
  // Process outstanding commands first, so that last messages are sent.
  do {
    commands_.flush();
    loop_.turn(monotonic_now(), commands_);
  } while (commands_.some_wait());
  loop_.drop_all();
}

void StreamThread::ring_bell() const {
  const uint64_t once = 1;
  static_cast<void>(!::write(bell_.get(), &once, sizeof(once)));
}

void StreamThread::submit(std::unique_ptr<CommandQueue<SocketLoop>::Command> command) {
  if (stopping_.load(std::memory_order_relaxed)) return;
  commands_.post(std::move(command));
  ring_bell();
}

size_t StreamThread::take_events(std::span<uint8_t> out) {
  if (commands_.flush()) ring_bell();
  // An exchange, so that an event added before the thread sees the change is taken here.
  wake_pending_.exchange(false, std::memory_order_acq_rel);
  return loop_.take_events(out);
}

void StreamThread::run() {
  pthread_setname_np(pthread_self(), "carillon-stream");
  static_cast<void>(
      // Ignored without permission.
      setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNiceness));
  while (!stopping_.load(std::memory_order_acquire)) {
    wait_for_work();
    const Nanos began = monotonic_now();
    loop_.turn(began, commands_);
    const bool called_for = loop_.has_events() || commands_.some_wait();
    if (called_for && !wake_pending_.exchange(true, std::memory_order_acq_rel)) wake_();
    measure(began);
  }
}

void StreamThread::measure(Nanos began) {
  const Nanos now = monotonic_now();
  busy_time_ += now - began;
  // Without sockets the load is 0 until there is one.
  if (now - busy_since_ < kSecond && !loop_.idle()) return;
  busy_.store(loop_.idle() ? 0 : in_milliseconds(busy_time_) / in_milliseconds(now - busy_since_),
              std::memory_order_relaxed);
  busy_time_ = {};
  busy_since_ = now;
}

/// Waits for the next turn, or without sockets for a command.
void StreamThread::wait_for_work() {
  if (loop_.idle()) {
    pollfd bell{bell_.get(), POLLIN, 0};
    ::poll(&bell, 1, -1);
    uint64_t rung = 0;
    static_cast<void>(!::read(bell_.get(), &rung, sizeof(rung)));
    return;
  }
  const Nanos due = ((monotonic_now() - kTurnOffset) / kTurn + 1) * kTurn + kTurnOffset;
  const timespec at{static_cast<time_t>(due / kSecond), static_cast<long>((due % kSecond).count())};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

}  // namespace carillon
