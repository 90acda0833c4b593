#include "engine/media_engine.hpp"

#include <algorithm>

namespace carillon {

MediaEngine::MediaEngine(Drive drive, const Address& local, std::function<void()> wake)
    : drive_(drive),
      local_(local),
      loop_(drive == Drive::manual),
      writer_(drive == Drive::manual ? RecordingWriter::Drive::manual : RecordingWriter::Drive::thread) {
  if (drive == Drive::thread) thread_ = std::make_unique<MediaThread>(loop_, std::move(wake));
}

MediaEngine::~MediaEngine() { stop(); }

void MediaEngine::stop() {
  if (stopped_) return;
  stopped_ = true;
  loop_.commands().flush();
  if (thread_) thread_->stop();
  // The media thread is gone: what it left undone is done here, so that recordings end with complete files.
  static_cast<void>(loop_.run_commands(now()));
  writer_.store_now();
  loop_.concluding().report(loop_.events());
  loop_.commands().dispose_spent();
}

void MediaEngine::submit(std::unique_ptr<CommandQueue<MediaLoop>::Command> command) {
  if (drive_ == Drive::manual) {
    loop_.run_command(*command, manual_now_);
  } else {
    loop_.commands().post(std::move(command));
    if (thread_) thread_->command_posted();
  }
}

void MediaEngine::post_keys(std::unique_ptr<CommandQueue<MediaLoop>::Command> command) {
  if (drive_ == Drive::manual) {
    loop_.run_command(*command, manual_now_);
  } else {
    loop_.key_commands().post(std::move(command));
    thread_->command_posted();
  }
}

void MediaEngine::exchange_keys_by(KeyExchange& exchange) {
  post([&exchange](MediaLoop& loop) { loop.core().exchange_keys_by(exchange); });
}

MediaEngine::Opened MediaEngine::open_leg(uint16_t port, LegConfig config) {
  // Sockets of legs that were closed travel back from the thread, and are closed here.
  loop_.commands().flush();
  SocketWheel::Pair sockets;
  for (uint16_t i = 0; drive_ == Drive::thread && i < sockets.size(); ++i) {
    Address local = local_;
    local.port = static_cast<uint16_t>(port + i);
    UdpSocket::Bound bound = UdpSocket::bind(local);
    if (bound.error != 0) return {LegHandle(), bound.error};
    sockets[i] = std::make_unique<UdpSocket>(std::move(bound.socket));
  }
  const std::optional<LegHandle> handle = handles_.take();
  if (!handle) return {};
  config.handle = *handle;
  config.local_port = port;
  auto leg = std::make_unique<Leg>(config);
  legs_[*handle] = {port, leg->statistics()};
  post([leg = std::move(leg), sockets = std::move(sockets)](MediaLoop& loop) mutable {
    const LegHandle added = leg->handle();
    loop.core().add_leg(std::move(leg));
    if (sockets[0]) loop.sockets().add(added, std::move(sockets));
  });
  return {*handle, 0};
}

std::optional<LegStatistics> MediaEngine::statistics(LegHandle leg) const {
  const auto found = legs_.find(leg);
  if (found == legs_.end()) return std::nullopt;
  return found->second.statistics->read();
}

std::optional<LegStatistics> MediaEngine::close_leg(LegHandle leg) {
  const auto found = legs_.find(leg);
  if (found == legs_.end()) return std::nullopt;
  const LegStatistics last = found->second.statistics->read();
  legs_.erase(found);
  post([leg, removed = std::unique_ptr<Leg>(), sockets = SocketWheel::Pair()](MediaLoop& loop) mutable {
    removed = loop.core().remove_leg(leg, loop.now());
    sockets = loop.sockets().remove(leg);
  });
  // The command that reuses the index is behind this one in the same queue.
  handles_.give_back(leg);
  return last;
}

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

size_t MediaEngine::take_events(std::span<uint8_t> out) {
  loop_.commands().flush();
  if (thread_) thread_->events_taken();
  return loop_.events().take(out);
}

Nanos MediaEngine::now() const { return drive_ == Drive::manual ? manual_now_ : monotonic_now(); }

MediaThread::Status MediaEngine::status() const {
  if (thread_) return thread_->status();
  MediaThread::Status status{};
  status.running = true;
  status.scheduling = "manual";
  const CoreCounters& counters = loop_.core().counters();
  status.packets_received = counters.packets_received;
  status.packets_sent = counters.packets_sent;
  status.unknown_sources = counters.unknown_sources;
  status.malformed = counters.malformed;
  status.source_changes = counters.source_changes;
  status.unknown_handles = counters.unknown_handles;
  status.skipped_ticks = counters.skipped_ticks;
  return status;
}

void MediaEngine::inject(uint16_t local_port, const Address& from, Bytes datagram, Nanos at) {
  std::vector<uint8_t> bytes(datagram.begin(), datagram.end());
  for (const auto& [handle, known] : legs_) {
    const Nanos arrival = std::min(at, manual_now_);
    if (local_port == known.port) {
      loop_.core().receive(handle, bytes, from, arrival);
      return;
    }
    if (local_port == known.port + 1) {
      loop_.core().receive_rtcp(handle, bytes, from, arrival);
      return;
    }
  }
}

void MediaEngine::advance(Nanos by) {
  const Nanos until = manual_now_ + by;
  for (Nanos due = (manual_now_ / kTick + 1) * kTick; due <= until; due += kTick) {
    manual_now_ = due;
    loop_.tick(due);
    if (due % kFrameTime == Nanos{} && !recordings_.empty()) writer_.store_now();
  }
  manual_now_ = until;
}

uint16_t MediaEngine::port_of(LegHandle leg) const {
  const auto found = legs_.find(leg);
  return found == legs_.end() ? uint16_t{0} : found->second.port;
}

}  // namespace carillon
