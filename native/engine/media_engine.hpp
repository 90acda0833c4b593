// The control thread's view of the native side: some media threads, or in manual mode none.
//
// A leg keeps its name for life, whichever thread it is on. Two that are to hear each other must be on one
// thread: whoever is elsewhere moves there, with its sockets and all that it owns (MediaLoop::Departed).
// Commands for it follow, in their order.
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
    /// At most kMaxThreads.
    size_t threads = 1;
    /// Above this share of its time a thread takes no further legs: those that it has must stay on time.
    double max_busy = 0.8;
    /// One with less to do takes a leg before another begins to wake for each millisecond.
    double little = 0.1;
    /// Datagrams of many sockets by one system call, where the kernel can (DatagramRing).
    bool ring = true;
  };

  /// `local`: address that legs bind to; its port is ignored. `wake` is called on a media thread when events
  /// wait, at most every 5 ms.
  MediaEngine(Drive drive, const Address& local, std::function<void()> wake, const Options& options);
  MediaEngine(Drive drive, const Address& local, std::function<void()> wake)
      : MediaEngine(drive, local, std::move(wake), Options{}) {}
  ~MediaEngine();
  MediaEngine(const MediaEngine&) = delete;
  MediaEngine& operator=(const MediaEngine&) = delete;

  struct Opened {
    /// 0: it did not open; without an error there are too many legs.
    LegHandle handle;
    /// errno of its sockets: EADDRINUSE for a port that somebody has, EMFILE for too many files, and so on;
    /// EBUSY: every media thread is busy.
    int error = 0;
  };
  /// `config.handle` is chosen here, and the thread: that of `near` if it is not busy, or one with little to
  /// do.
  Opened open_leg(uint16_t port, LegConfig config, LegHandle near = {});
  [[nodiscard]] std::optional<LegStatistics> statistics(LegHandle leg) const;
  /// The last statistics; the leg's sockets and audio objects are gone soon after.
  std::optional<LegStatistics> close_leg(LegHandle leg);

  void bridge(LegHandle a, LegHandle b);
  void unbridge(LegHandle a, LegHandle b);
  /// It comes to be on the thread of who first joins it.
  void open_room(RoomHandle room);
  void close_room(RoomHandle room);
  void join(RoomHandle room, LegHandle leg, std::unique_ptr<RoomMember> member);

  /// Runs `function(MediaLoop&)` on a media thread, at the next tick; in manual mode at once.
  template <typename Function>
  void on_thread(size_t thread, Function function) {
    submit(*threads_[thread], CommandQueue<MediaLoop>::make(std::move(function)));
  }
  /// The same with `function(MediaLoop&, PlaceHandle at)` on the thread of the leg or room, under its handle
  /// there.
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

  /// `function(MediaLoop&)`.
  template <typename Function>
  void at_room(RoomHandle room, Function function) {
    at_place(PlaceHandle(room.value()), [function = std::move(function)](
                                            MediaLoop& loop, PlaceHandle /*at*/) mutable { function(loop); });
  }

  // --- the thread that exchanges keys ---
  /// What that thread has to do at a leg. False: the leg is on its way, or gone.
  using KeyErrand = std::function<bool(MediaLoop&, LegHandle at)>;
  /// Whoever calls this is one thread, and is gone before stop().
  void post_keys(LegHandle leg, KeyErrand errand);
  /// Sends those after their legs that did not find them.
  void repeat_keys();

  // --- control thread ---
  /// Who exchanges keys over the legs' ports; it outlives the media threads.
  void exchange_keys_by(KeyExchange& exchange);
  /// The file of a new recording. A sink whose state is `failed` says why; its leg need not be told of it.
  std::shared_ptr<RecordingSink> open_recording(TapHandle handle, const std::string& path,
                                                const WavFormat& format);
  /// Once its end has been told; errno of a failure, or 0.
  int close_recording(TapHandle handle);

  size_t take_events(std::span<uint8_t> out);
  [[nodiscard]] Nanos now() const;
  [[nodiscard]] const Address& local() const { return local_; }
  [[nodiscard]] size_t thread_count() const { return threads_.size(); }
  [[nodiscard]] MediaThread::Status status(size_t thread = 0) const;
  /// Share of the time, 0..1, in which the thread works that works least: there new legs go. As measured over
  /// the last second.
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
    /// Null: not there yet.
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
  void send_keys(std::unique_ptr<KeyCommand> command);

  // Given.
  Drive drive_;
  Address local_;
  Options options_;
  // Owned.
  RecordRing events_{EventRing::kCapacity};
  ControlCall control_;
  std::vector<std::unique_ptr<Thread>> threads_;
  RecordingWriter writer_;
  std::map<TapHandle, std::shared_ptr<RecordingSink>> recordings_;
  /// Changed by the control thread alone, under the lock; read by who exchanges keys, under it too.
  std::map<LegHandle, Known> legs_;
  std::mutex legs_lock_;
  std::map<RoomHandle, OpenRoom> rooms_;
  // State of the manual mode.
  Nanos manual_now_ = kSecond;
  bool stopped_ = false;
};

}  // namespace carillon
