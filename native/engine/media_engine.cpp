#include "engine/media_engine.hpp"

#include <algorithm>
#include <cerrno>

namespace carillon {

MediaEngine::MediaEngine(Drive drive, const Address& local, std::function<void()> wake,
                         const Options& options)
    : drive_(drive),
      local_(local),
      options_(options),
      control_(std::move(wake)),
      writer_(drive == Drive::manual ? RecordingWriter::Drive::manual : RecordingWriter::Drive::thread) {
  for (size_t i = 0; i < std::clamp<size_t>(options.threads, 1, kMaxThreads); ++i) {
    threads_.push_back(std::make_unique<Thread>(i, events_, drive == Drive::manual));
    Thread& made = *threads_.back();
    made.loop.sockets().announce(options.announced);
    if (drive == Drive::thread)
      made.thread = std::make_unique<MediaThread>(made.loop, control_, options.ring);
  }
}

MediaEngine::~MediaEngine() { stop(); }

void MediaEngine::stop() {
  if (stopped_) return;
  stopped_ = true;
  for (const auto& thread : threads_) {
    if (thread->thread) thread->thread->stop();
  }
  // The media threads have ended. Run their remaining commands here, so that recordings end with complete
  // files. All loops get the same tick, because a command may wait for another thread's loop.
  int64_t latest = 0;
  for (const auto& thread : threads_) latest = std::max(latest, thread->loop.core().next_tick());
  for (const auto& thread : threads_) thread->loop.core().begin_at(latest);
  for (bool any = true; any;) {
    any = false;
    for (const auto& thread : threads_) {
      thread->loop.commands().flush();
      any = thread->loop.run_commands(now()) || any;
    }
  }
  writer_.store_now();
  for (const auto& thread : threads_) {
    thread->loop.concluding().report(thread->loop.events());
    thread->loop.commands().dispose_spent();
  }
}

void MediaEngine::submit(Thread& thread, std::unique_ptr<Command> command) {
  if (drive_ == Drive::manual) {
    thread.loop.run_command(*command, manual_now_);
  } else {
    thread.loop.commands().post(std::move(command));
    thread.thread->command_posted();
  }
}

MediaEngine::Known* MediaEngine::find(LegHandle leg) {
  const auto found = legs_.find(leg);
  return found == legs_.end() ? nullptr : &found->second;
}

/// Returns the thread and handle for commands. For unknown places, the command finds no target.
std::pair<MediaEngine::Thread*, PlaceHandle> MediaEngine::whereabouts(PlaceHandle place) {
  if (!is_room(place)) {
    const Known* const known = find(LegHandle(place.value()));
    if (known != nullptr) return {known->thread, PlaceHandle(known->at.value())};
  } else if (const auto room = rooms_.find(RoomHandle(place.value())); room != rooms_.end()) {
    return {&settle(room->first, room->second, least_loaded()), place};
  }
  return {threads_.front().get(), place};
}

void MediaEngine::missed() {
  on_thread(0, [](MediaLoop& loop) { loop.core().missed(); });
}

// ---------------------------------------------------------------- legs

MediaEngine::Opened MediaEngine::open_leg(uint16_t port, LegConfig config, LegHandle near) {
  Thread* const thread = thread_for(near);
  if (thread == nullptr) return {LegHandle(), EBUSY};
  // The thread returns the sockets of closed legs, which are closed here.
  thread->loop.commands().flush();
  SocketWheel::Pair sockets;
  for (uint16_t i = 0; drive_ == Drive::thread && i < sockets.size(); ++i) {
    Address local = local_;
    local.port = static_cast<uint16_t>(port + i);
    UdpSocket::Bound bound = UdpSocket::bind(local);
    if (bound.error != 0) return {LegHandle(), bound.error};
    sockets[i] = std::make_unique<UdpSocket>(std::move(bound.socket));
  }
  const std::optional<LegHandle> handle = thread->handles.take();
  if (!handle) return {};
  config.handle = *handle;
  config.local_port = port;
  auto leg = std::make_unique<Leg>(config);
  {
    const std::lock_guard lock(legs_lock_);
    legs_[*handle] = {thread, *handle, port, leg->statistics()};
  }
  ++thread->legs;
  at_leg(*handle,
         [leg = std::move(leg), sockets = std::move(sockets)](MediaLoop& loop, LegHandle at) mutable {
           loop.core().add_leg(std::move(leg));
           if (sockets[0]) loop.sockets().add(at, std::move(sockets));
         });
  return {*handle, 0};
}

std::optional<LegStatistics> MediaEngine::statistics(LegHandle leg) const {
  const auto found = legs_.find(leg);
  if (found == legs_.end()) return std::nullopt;
  return found->second.figures->read();
}

std::optional<LegStatistics> MediaEngine::close_leg(LegHandle leg) {
  const Known* const known = find(leg);
  if (known == nullptr) return std::nullopt;
  const LegStatistics last = known->figures->read();
  at_leg(leg, [removed = std::unique_ptr<Leg>(), sockets = SocketWheel::Removed()](MediaLoop& loop,
                                                                                   LegHandle at) mutable {
    removed = loop.core().remove_leg(at, loop.now());
    sockets = loop.sockets().remove(at);
  });
  // The command that reuses the index follows this one in the same queue.
  known->thread->handles.give_back(known->at);
  --known->thread->legs;
  const std::lock_guard lock(legs_lock_);
  legs_.erase(leg);
  return last;
}

void MediaEngine::bridge(LegHandle a, LegHandle b) {
  if (!bring_together(a, b)) {
    missed();
    return;
  }
  at_leg(a, [other = find(b)->at](MediaLoop& loop, LegHandle at) {
    if (!loop.core().bridge(at, other)) loop.core().missed();
  });
}

void MediaEngine::unbridge(LegHandle a, LegHandle b) {
  const Known* const other = find(b);
  if (other == nullptr) return;
  at_leg(a, [other = other->at](MediaLoop& loop, LegHandle at) {
    static_cast<void>(loop.core().unbridge(at, other));
  });
}

// ---------------------------------------------------------------- keys

class MediaEngine::KeyCommand final : public Command {
 public:
  KeyCommand(LegHandle leg, KeyTask task) : leg_(leg), task_(std::move(task)) {}

  [[nodiscard]] bool ready(const MediaLoop& /*loop*/) const override { return true; }
  void run(MediaLoop& loop) override {
    done_ = task_(loop, at_);
    if (!done_) loop.core().report_keys_unmet();
  }

  [[nodiscard]] LegHandle leg() const { return leg_; }
  [[nodiscard]] bool done() const { return done_; }
  void go_to(LegHandle at) { at_ = at; }

 private:
  LegHandle leg_;
  KeyTask task_;
  LegHandle at_;
  bool done_ = false;
};

void MediaEngine::post_keys(LegHandle leg, KeyTask task) {
  repeat_keys();
  send_keys(std::make_unique<KeyCommand>(leg, std::move(task)));
}

void MediaEngine::post_datagram(LegHandle leg, KeyTask task) {
  repeat_keys();
  send_keys(std::make_unique<KeyCommand>(leg, std::move(task)), true);
}

void MediaEngine::send_keys(std::unique_ptr<KeyCommand> command, bool may_drop) {
  Thread* to = nullptr;
  {
    const std::lock_guard lock(legs_lock_);
    const Known* const known = find(command->leg());
    if (known == nullptr) return;
    to = known->thread;
    command->go_to(known->at);
  }
  if (drive_ == Drive::manual) {
    to->loop.run_command(*command, manual_now_);
    return;
  }
  if (may_drop) {
    static_cast<void>(to->loop.key_commands().post_or_drop(std::move(command)));
  } else {
    to->loop.key_commands().post_on(std::move(command));
  }
  to->thread->command_posted();
}

void MediaEngine::repeat_keys() {
  for (const auto& thread : threads_) {
    while (std::unique_ptr<Command> spent = thread->loop.key_commands().take_spent()) {
      std::unique_ptr<KeyCommand> task(static_cast<KeyCommand*>(spent.release()));
      if (!task->done()) send_keys(std::move(task));
    }
    thread->loop.key_commands().go_on();
  }
}

void MediaEngine::exchange_keys_by(KeyExchange& exchange) {
  for (size_t i = 0; i < threads_.size(); ++i) {
    on_thread(i, [&exchange](MediaLoop& loop) { loop.core().exchange_keys_by(exchange); });
  }
}

// ---------------------------------------------------------------- recordings

std::shared_ptr<RecordingSink> MediaEngine::open_recording(TapHandle handle, const std::string& path,
                                                           const WavFormat& format) {
  std::shared_ptr<RecordingSink> sink = writer_.open(path, format);
  recordings_[handle] = sink;
  return sink;
}

int MediaEngine::close_recording(TapHandle handle) {
  const auto found = recordings_.find(handle);
  if (found == recordings_.end()) return 0;
  const int error =
      found->second->state() == RecordingSink::State::writing ? 0 : found->second->error_number();
  recordings_.erase(found);
  return error;
}

// ---------------------------------------------------------------- events, state

size_t MediaEngine::take_events(std::span<uint8_t> out) {
  for (const auto& thread : threads_) {
    if (thread->loop.commands().flush()) thread->thread->command_posted();
  }
  control_.answered();
  return events_.take(out);
}

Nanos MediaEngine::now() const { return drive_ == Drive::manual ? manual_now_ : monotonic_now(); }

MediaThread::Status MediaEngine::status(size_t thread) const {
  const Thread& asked = *threads_[thread];
  if (asked.thread) return asked.thread->status();
  MediaThread::Status status{};
  status.running = true;
  status.scheduling = "manual";
  status.load.legs = asked.loop.core().leg_count();
  status.count(asked.loop.core().counters());
  return status;
}

// ---------------------------------------------------------------- manual mode

void MediaEngine::inject(uint16_t local_port, const Address& from, Bytes datagram, Nanos at) {
  std::vector<uint8_t> bytes(datagram.begin(), datagram.end());
  for (const auto& [name, known] : legs_) {
    const Nanos arrival = std::min(at, manual_now_);
    MediaCore& core = known.thread->loop.core();
    if (local_port == known.port) {
      core.receive(known.at, bytes, from, arrival);
      return;
    }
    if (local_port == known.port + 1) {
      core.receive_rtcp(known.at, bytes, from, arrival);
      return;
    }
  }
}

void MediaEngine::advance(Nanos by) {
  const Nanos until = manual_now_ + by;
  for (Nanos due = (manual_now_ / kTick + 1) * kTick; due <= until; due += kTick) {
    manual_now_ = due;
    for (const auto& thread : threads_) thread->loop.tick(due);
    if (due % kFrameTime == Nanos{} && !recordings_.empty()) writer_.store_now();
  }
  manual_now_ = until;
}

std::vector<SentPacket> MediaEngine::take_sent() {
  std::vector<SentPacket> sent = threads_.front()->loop.take_sent();
  for (size_t i = 1; i < threads_.size(); ++i) {
    std::ranges::move(threads_[i]->loop.take_sent(), std::back_inserter(sent));
  }
  if (threads_.size() > 1) std::ranges::stable_sort(sent, {}, &SentPacket::at);
  return sent;
}

uint16_t MediaEngine::port_of(LegHandle leg) const {
  const auto found = legs_.find(leg);
  return found == legs_.end() ? uint16_t{0} : found->second.port;
}

}  // namespace carillon
