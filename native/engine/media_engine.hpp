// The control thread's view of the native side: one media thread, or in manual mode none.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "engine/leg_handles.hpp"
#include "engine/media_loop.hpp"
#include "engine/media_thread.hpp"

namespace carillon {

class MediaEngine {
 public:
  enum class Drive : uint8_t { thread, manual };

  /// `local`: address that legs bind to; its port is ignored.
  MediaEngine(Drive drive, const Address& local, std::function<void()> wake);
  ~MediaEngine();
  MediaEngine(const MediaEngine&) = delete;
  MediaEngine& operator=(const MediaEngine&) = delete;

  struct Opened {
    /// 0: it did not open; without an error there are too many legs.
    LegHandle handle;
    /// errno of its sockets: EADDRINUSE for a port that somebody has, EMFILE for too many files, and so on.
    int error = 0;
  };
  /// `config.handle` is chosen here.
  Opened open_leg(uint16_t port, LegConfig config);
  [[nodiscard]] std::optional<LegStatistics> statistics(LegHandle leg) const;
  /// The last statistics; the leg's sockets and audio objects are gone soon after.
  std::optional<LegStatistics> close_leg(LegHandle leg);

  /// Runs `function(MediaLoop&)` on the media thread, at the next tick; in manual mode at once.
  template <typename Function>
  void post(Function function) {
    submit(CommandQueue<MediaLoop>::make(std::move(function)));
  }

  // --- the thread that exchanges keys ---
  /// As post(). Whoever calls it is one thread, and is gone before stop().
  void post_keys(std::unique_ptr<CommandQueue<MediaLoop>::Command> command);

  // --- control thread ---
  /// Who exchanges keys over the legs' ports; it outlives the media thread.
  void exchange_keys_by(KeyExchange& exchange);
  /// The file of a new recording. A sink whose state is `failed` says why; its leg need not be told of it.
  std::shared_ptr<RecordingSink> open_recording(TapHandle handle, const std::string& path,
                                                const WavFormat& format);
  /// Once its end has been told; errno of a failure, or 0.
  int close_recording(TapHandle handle);
  ConcludingRecordings& concluding() { return loop_.concluding(); }

  size_t take_events(std::span<uint8_t> out);
  [[nodiscard]] Nanos now() const;
  [[nodiscard]] MediaThread::Status status() const;
  [[nodiscard]] size_t leg_count() const { return legs_.size(); }
  [[nodiscard]] uint64_t dropped_events() { return loop_.events().dropped(); }
  void stop();

  // --- manual mode ---
  void inject(uint16_t local_port, const Address& from, Bytes datagram, Nanos at);
  void advance(Nanos by);
  std::vector<SentPacket> take_sent() { return loop_.take_sent(); }
  [[nodiscard]] uint16_t port_of(LegHandle leg) const;

 private:
  void submit(std::unique_ptr<CommandQueue<MediaLoop>::Command> command);

  struct Known {
    uint16_t port = 0;
    std::shared_ptr<SequenceCell<LegStatistics>> statistics;
  };

  // Given.
  Drive drive_;
  Address local_;
  // Owned.
  MediaLoop loop_;
  std::unique_ptr<MediaThread> thread_;
  RecordingWriter writer_;
  std::map<TapHandle, std::shared_ptr<RecordingSink>> recordings_;
  LegHandles handles_;
  std::map<LegHandle, Known> legs_;
  // State of the manual mode.
  Nanos manual_now_ = kSecond;
  bool stopped_ = false;
};

}  // namespace carillon
