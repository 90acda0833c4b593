// Control thread interface of the media engine. The engine has several media threads, or none in manual mode.
//
// A leg keeps its name for its lifetime, on any thread. Legs that hear each other must be on one thread, so
// one of them moves there with its sockets and all its objects (MediaLoop::Departed). Later commands for it
// follow in order.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/control_call.hpp"
#include "engine/leg_handles.hpp"
#include "engine/media_loop.hpp"
#include "engine/media_thread.hpp"
#include "engine/place_handle.hpp"

namespace carillon {

class MediaEngine {
 public:
  enum class Drive : uint8_t { thread, manual };
  static constexpr size_t kMaxThreads = LegHandles::kMaxThreads;
  struct Options {
    /// Number of media threads, at most kMaxThreads. Default 1.
    size_t threads = 1;
    /// Load (0..1) above which a thread accepts no new legs, so that existing legs stay on time. Default 0.8.
    double max_busy = 0.8;
    /// Load (0..1) below which a thread is preferred for new legs over waking an idle thread. Default 0.1.
    double little = 0.1;
    /// Use one system call for many sockets if the kernel supports it (DatagramRing). Default: true.
    bool ring = true;
    /// Own addresses in SDP, at most one per family. Legs bound to all addresses send from them.
    std::vector<Address> announced{};
  };

  /// `local`: address that legs bind to; its port is ignored. `wake` is called on a media thread when events
  /// are pending, at most every 5 ms. Throws a std::system_error if descriptors or threads are exhausted.
  MediaEngine(Drive drive, const Address& local, std::function<void()> wake, const Options& options);
  MediaEngine(Drive drive, const Address& local, std::function<void()> wake)
      : MediaEngine(drive, local, std::move(wake), Options{}) {}
  ~MediaEngine();
  MediaEngine(const MediaEngine&) = delete;
  MediaEngine& operator=(const MediaEngine&) = delete;

  struct Opened {
    /// Handle of the leg. 0: failure; if `error` is also 0, there are too many legs.
    LegHandle handle;
    /// errno of its sockets, such as EADDRINUSE for a used port or EMFILE for too many files. EBUSY: all
    /// media threads are busy.
    int error = 0;
  };
  /// Opens a leg. The engine assigns `config.handle` and the thread: that of `near` if it is not busy,
  /// otherwise a lightly loaded one.
  Opened open_leg(uint16_t port, LegConfig config, LegHandle near = {});
  [[nodiscard]] std::optional<LegStatistics> statistics(LegHandle leg) const;
  /// Closes a leg and returns its final statistics. Its sockets and audio objects are released shortly after.
  std::optional<LegStatistics> close_leg(LegHandle leg);

  void bridge(LegHandle a, LegHandle b);
  void unbridge(LegHandle a, LegHandle b);
  /// Opens a room. It is placed on the thread of the first member.
  void open_room(RoomHandle room);
  void close_room(RoomHandle room);
  void join(RoomHandle room, LegHandle leg, std::unique_ptr<RoomMember> member);

  /// Runs `function(MediaLoop&)` on a media thread at the next tick, or immediately in manual mode.
  template <typename Function>
  void on_thread(size_t thread, Function function) {
    submit(*threads_[thread], CommandQueue<MediaLoop>::make(std::move(function)));
  }
  /// Runs `function(MediaLoop&, PlaceHandle at)` on the thread of the leg or room. `at`: its handle there.
  template <typename Function>
  void at_place(PlaceHandle place, Function function) {
    const auto [thread, at] = whereabouts(place);
    submit(*thread, CommandQueue<MediaLoop>::make([at = at, function = std::move(function)](
                                                      MediaLoop& loop) mutable { function(loop, at); }));
  }
  template <typename Function>
  void at_leg(LegHandle leg, Function function) {
    at_place(PlaceHandle(leg.value()),
             [function = std::move(function)](MediaLoop& loop, PlaceHandle at) mutable {
               function(loop, LegHandle(at.value()));
             });
  }

  /// Runs `function(MediaLoop&)` on the room's thread.
  template <typename Function>
  void at_room(RoomHandle room, Function function) {
    at_place(PlaceHandle(room.value()), [function = std::move(function)](
                                            MediaLoop& loop, PlaceHandle /*at*/) mutable { function(loop); });
  }

  // --- key exchange thread ---
  /// Key exchange command for a leg. Returns false if the leg is moving or was removed.
  using KeyTask = std::function<bool(MediaLoop&, LegHandle at)>;
  /// Posts a key exchange command. Only one thread may call this, and it must end before stop().
  void post_keys(LegHandle leg, KeyTask task);
  /// As post_keys(), for a received datagram. It is dropped if the media thread is far behind, so that a peer
  /// that floods the shared port cannot use all memory.
  void post_datagram(LegHandle leg, KeyTask task);
  /// Reposts the commands that did not find their leg, and posts those that waited for space in the queue.
  void repeat_keys();

  // --- control thread ---
  /// Sets the key exchange, which must outlive the media threads.
  void exchange_keys_by(KeyExchange& exchange);
  /// Opens the file of a new recording. If it fails, the sink has the state `failed` with the reason, and the
  /// leg need not be notified.
  std::shared_ptr<RecordingSink> open_recording(TapHandle handle, const std::string& path,
                                                const WavFormat& format);
  /// Removes a recording whose end was reported. Returns the errno of a failure, or 0.
  int close_recording(TapHandle handle);

  size_t take_events(std::span<uint8_t> out);
  [[nodiscard]] Nanos now() const;
  [[nodiscard]] const Address& local() const { return local_; }
  [[nodiscard]] size_t thread_count() const { return threads_.size(); }
  [[nodiscard]] MediaThread::Status status(size_t thread = 0) const;
  /// Load (0..1) of the least loaded thread over the last second. New legs are placed on that thread.
  [[nodiscard]] double busy() const;
  [[nodiscard]] size_t leg_count() const { return legs_.size(); }
  [[nodiscard]] size_t leg_count(size_t thread) const { return threads_[thread]->legs; }
  [[nodiscard]] size_t thread_of(LegHandle leg) const;
  [[nodiscard]] uint64_t dropped_events() const { return events_.dropped(); }
  void stop();

  // --- manual mode ---
  void inject(uint16_t local_port, const Address& from, Bytes datagram, Nanos at);
  void advance(Nanos by);
  std::vector<SentPacket> take_sent();
  [[nodiscard]] uint16_t port_of(LegHandle leg) const;

 private:
  using Command = CommandQueue<MediaLoop>::Command;
  class KeyCommand;

  struct Thread {
    Thread(size_t index, RecordRing& events, bool manual) : handles(index), loop(events, manual) {}
    LegHandles handles;
    size_t legs = 0;
    MediaLoop loop;
    std::unique_ptr<MediaThread> thread;
  };
  struct Known {
    Thread* thread = nullptr;
    LegHandle at;
    uint16_t port = 0;
    std::shared_ptr<LegFigures> figures;
  };
  struct OpenRoom {
    /// Thread of the room. Null: not assigned yet.
    Thread* thread = nullptr;
  };

  void submit(Thread& thread, std::unique_ptr<Command> command);
  std::pair<Thread*, PlaceHandle> whereabouts(PlaceHandle place);
  [[nodiscard]] Known* find(LegHandle leg);
  [[nodiscard]] double load(const Thread& thread) const;
  Thread& least_loaded();
  Thread* thread_for(LegHandle near);
  Thread& settle(RoomHandle room, OpenRoom& place, Thread& wanted);
  bool move(Known& leg, Thread& to);
  bool bring_together(LegHandle a, LegHandle b);
  void missed();
  void send_keys(std::unique_ptr<KeyCommand> command, bool may_drop = false);

  Drive drive_;
  Address local_;
  Options options_;
  RecordRing events_{EventRing::kCapacity};
  ControlCall control_;
  std::vector<std::unique_ptr<Thread>> threads_;
  RecordingWriter writer_;
  std::map<TapHandle, std::shared_ptr<RecordingSink>> recordings_;
  /// Modified only by the control thread, with the lock held. The key exchange thread reads it with the lock
  /// held.
  std::map<LegHandle, Known> legs_;
  std::mutex legs_lock_;
  std::map<RoomHandle, OpenRoom> rooms_;
  // Manual mode state.
  Nanos manual_now_ = kSecond;
  bool stopped_ = false;
};

}  // namespace carillon
