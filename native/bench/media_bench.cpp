// Measures the media engine over loopback sockets and prints one JSON object. See bench/media.ts.
//   media_bench <pairs of legs> <seconds> [media threads] [sha80 | gcm]
// With a suite, the legs use SRTP with separate keys and processor instructions.
#include <malloc.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "bench/bench_support.hpp"
#include "bench/srtp_support.hpp"
#include "core/codec/g711.hpp"
#include "core/stream/stream_input.hpp"

namespace carillon {
namespace {

uint16_t next_port() {
  static uint16_t port = 20'000;
  return port = static_cast<uint16_t>(port + 2);
}

/// Minimum cost of a packet: one connected send and one receive of its size. Uses as many sockets as legs,
/// because a single socket would stay in the caches and understate the minimum.
class UdpFloor {
 public:
  explicit UdpFloor(size_t sockets) : packet_(kPacketBytes, 0x80) {
    std::vector<Address> addresses;
    while (sockets_.size() < sockets) {
      Address local = kLoopback;
      local.port = next_port();
      if (auto bound = UdpSocket::bind(local); bound.error == 0) {
        sockets_.push_back(std::move(bound.socket));
        addresses.push_back(local);
      }
    }
    for (size_t i = 0; i < sockets; ++i) sockets_[i].connect(addresses[i ^ 1]);
  }

  /// Cost without pauses between the packets.
  double busy_us() {
    const Nanos begin = thread_cpu();
    size_t packets = 0;
    while (packets < 60'000) packets += exchange();
    return us_per_call_second(begin, packets);
  }

  /// Cost at the engine's rhythm: the packets of one millisecond, then sleep until the next. Includes
  /// wake-ups and cold caches.
  double paced_us() {
    timespec due{};
    clock_gettime(CLOCK_MONOTONIC, &due);
    const Nanos begin = thread_cpu();
    size_t packets = 0;
    for (int tick = 0; tick < 1500; ++tick) {
      due.tv_nsec += kTick.count();
      if (due.tv_nsec >= kSecond.count()) {
        ++due.tv_sec;
        due.tv_nsec -= kSecond.count();
      }
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
      packets += exchange();
    }
    return us_per_call_second(begin, packets);
  }

 private:
  /// Exchanges the packets of one millisecond: a twentieth of the sockets send, and their peers receive.
  size_t exchange() {
    const size_t until =
        std::min(from_ + std::max<size_t>(sockets_.size() / 20, 2), sockets_.size()) & ~size_t{1};
    for (size_t i = from_; i < until; ++i) sockets_[i].send(packet_);
    for (size_t i = from_; i < until; ++i) static_cast<void>(buffer_.receive(sockets_[i]));
    const size_t packets = until - from_;
    from_ = until == sockets_.size() ? 0 : until;
    return packets;
  }

  static double us_per_call_second(Nanos begin, size_t packets) {
    return 1000 * in_milliseconds(thread_cpu() - begin) / static_cast<double>(packets) * 50;
  }

  std::vector<UdpSocket> sockets_;
  std::vector<uint8_t> packet_;
  UdpSocket::Buffer buffer_;
  size_t from_ = 0;
};

struct Floors {
  double busy_us;
  double paced_us;
};

/// Runs on a thread with the media thread's priority, if permitted.
Floors measure_floors(size_t sockets) {
  Floors floors{};
  std::thread([&] {
    sched_param priority{};
    priority.sched_priority = 10;
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
    UdpFloor floor(sockets);
    floors.busy_us = floor.busy_us();
    floors.paced_us = floor.paced_us();
  }).join();
  return floors;
}

LegRemote remote_at(uint16_t port) {
  LegRemote remote;
  remote.receive.source.signalled = kLoopback;
  remote.receive.source.signalled.port = port;
  remote.receive.telephone_event = remote.send.telephone_event = 101;
  remote.send.sending = true;
  return remote;
}

struct OpenLeg {
  LegHandle handle;
  uint16_t port;
};

OpenLeg open_leg(MediaEngine& engine) {
  while (true) {
    const uint16_t port = next_port();
    const auto opened = engine.open_leg(port, {});
    if (opened.handle != LegHandle()) return {opened.handle, port};
  }
}

void configure(MediaEngine& engine, LegHandle leg, uint16_t peer_port) {
  engine.at_leg(leg, [remote = remote_at(peer_port)](MediaLoop& loop, LegHandle at) {
    if (Leg* const found = loop.core().leg(at)) found->configure(remote, loop.now());
  });
}

void protect(MediaEngine& engine, LegHandle leg, std::unique_ptr<PacketProtection> protection) {
  engine.at_leg(leg, [protection = std::move(protection)](MediaLoop& loop, LegHandle at) mutable {
    if (Leg* const found = loop.core().leg(at)) found->protect_with(protection);
  });
}

/// Peer that records the arrival time (kernel time) of a leg's packets and whether they are loud.
class Listener {
 public:
  struct Heard {
    Nanos at;
    uint32_t timestamp;
    bool loud;
  };

  Listener() {
    Address local = kLoopback;
    while (!socket_) {
      local.port = next_port();
      if (UdpSocket::Bound bound = UdpSocket::bind(local); bound.error == 0)
        socket_ = std::move(bound.socket);
    }
    port = local.port;
  }

  std::vector<Heard> take() {
    std::vector<Heard> heard;
    while (buffer_.receive(*socket_)) {
      const Datagram datagram = buffer_.datagram();
      const auto packet = parse_rtp(datagram.bytes);
      if (!packet) continue;
      bool loud = false;
      for (const uint8_t code : packet->payload)
        loud = loud || std::abs(g711_decode(G711Law::mu, code)) > 200;
      heard.push_back({datagram.arrived_wall, packet->timestamp.value(), loud});
    }
    return heard;
  }

  uint16_t port = 0;

 private:
  std::optional<UdpSocket> socket_;
  UdpSocket::Buffer buffer_;
};

/// Bot stream on a leg whose peer is a listener.
struct Bot {
  Bot(MediaEngine& engine, const OpenLeg& leg)
      : queue(std::make_shared<PlaybackQueue>(kNarrowband, 480'000)), input("s", {}, queue) {
    AudioStreamConfig config;
    config.handle = StreamHandle(1);
    config.stream_id = "s";
    config.inbound = false;
    config.opened = engine.now();
    engine.at_leg(leg.handle, [stream = std::make_unique<AudioStream>(config, make_decoder({}), queue)](
                                  MediaLoop& loop, LegHandle at) mutable {
      if (Leg* const found = loop.core().leg(at)) found->add(stream);
    });
  }
  std::shared_ptr<PlaybackQueue> queue;
  StreamInput input;
};

struct Latency {
  std::vector<double> first_ms;
  std::vector<double> last_ms;
};

/// Measures playAudio on an empty queue until its first packet, and clearAudio until the last packet with old
/// audio.
void measure_latency(Bot& bot, Listener& listener, int rounds, Latency& out) {
  std::mt19937 random(3);
  std::vector<uint8_t> second(16'000);
  for (size_t i = 0; i < second.size(); i += 2)
    second[i + 1] = static_cast<uint8_t>(i % 4 == 0 ? 0x20 : 0xe0);
  const auto pause = [](int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); };
  for (int i = 0; i < rounds; ++i) {
    pause(60 + static_cast<int>(random() % 20));
    listener.take();
    const Nanos played = wall_now();
    bot.input.enqueue({}, second);
    pause(100 + static_cast<int>(random() % 20));
    const Nanos cleared = wall_now();
    bot.input.clear();
    pause(60);
    Nanos first{};
    Nanos last{};
    for (const Listener::Heard& heard : listener.take()) {
      if (!heard.loud) continue;
      if (first == Nanos{}) first = heard.at;
      last = heard.at;
    }
    if (first == Nanos{}) continue;
    out.first_ms.push_back(in_milliseconds(first - played));
    out.last_ms.push_back(std::max(0.0, in_milliseconds(last - cleared)));
  }
}

/// Measures when a leg's packets are sent relative to their tick. A stream keeps the leg awake.
class Watched {
 public:
  explicit Watched(MediaEngine& engine) : leg(open_leg(engine)), bot(engine, leg) {
    configure(engine, leg.handle, listener.port);
  }

  /// Determines the leg's tick while there is no other work. It stays constant.
  void learn() {
    const std::vector<Listener::Heard> heard = listener.take();
    if (heard.empty()) return;
    begin_ = heard.front();
    Nanos least = Nanos::max();
    for (const Listener::Heard& one : heard) least = std::min(least, one.at - due(one));
    const Nanos at = begin_->at + least - offset_;
    begin_->at = at - at % kTick + offset_;
  }

  void note() {
    for (const Listener::Heard& one : listener.take()) {
      at_.push_back(one.at);
      if (begin_) late_us.push_back(1000 * in_milliseconds(one.at - due(one)));
    }
  }

  /// Deviations in ms from the 20 ms grid that starts at the first packet.
  [[nodiscard]] std::vector<double> deviation_ms() const {
    std::vector<double> deviation;
    for (const Nanos at : at_) {
      const double since = in_milliseconds(at - at_.front());
      deviation.push_back(std::abs(since - 20.0 * std::round(since / 20.0)));
    }
    return deviation;
  }

  Listener listener;
  OpenLeg leg;
  Bot bot;
  std::vector<double> late_us;

 private:
  [[nodiscard]] Nanos due(const Listener::Heard& heard) const {
    const auto frames =
        static_cast<int32_t>(heard.timestamp - begin_->timestamp) / static_cast<int>(kNarrowFrame);
    return begin_->at + frames * kFrameTime;
  }

  Nanos offset_ = wall_now() - monotonic_now();
  std::optional<Listener::Heard> begin_;
  std::vector<Nanos> at_;
};

/// Returns the CPU time of all media threads after each has reported its own.
Nanos media_cpu(MediaEngine& engine) {
  std::atomic<int64_t> cpu{0};
  std::atomic<size_t> reported{0};
  for (size_t i = 0; i < engine.thread_count(); ++i) {
    engine.on_thread(i, [&](MediaLoop&) {
      cpu += thread_cpu().count();
      ++reported;
    });
  }
  while (reported < engine.thread_count()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return Nanos(cpu);
}

/// Opens pairs of legs that are each other's peers.
std::vector<OpenLeg> open_pairs(MediaEngine& engine, int pairs) {
  std::vector<OpenLeg> legs;
  for (int i = 0; i < 2 * pairs; ++i) legs.push_back(open_leg(engine));
  for (size_t i = 0; i < legs.size(); i += 2) {
    configure(engine, legs[i].handle, legs[i + 1].port);
    configure(engine, legs[i + 1].handle, legs[i].port);
  }
  return legs;
}

/// Status of the first thread with the highest load and delay of all threads.
MediaThread::Status worst_status(MediaEngine& engine) {
  MediaThread::Status status = engine.status();
  for (size_t i = 1; i < engine.thread_count(); ++i) {
    const MediaThread::Status other = engine.status(i);
    status.load.busy = std::max(status.load.busy, other.load.busy);
    status.late_p99_us = std::max(status.late_p99_us, other.late_p99_us);
  }
  return status;
}

int run(int pairs, int seconds, size_t threads, std::optional<SrtpSuite> suite) {
  const Floors floors = measure_floors(static_cast<size_t>(2 * pairs));
  MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [] {}, {.threads = threads, .max_busy = 100});

  // One leg per slot of the frame.
  std::vector<Watched> watched;
  while (watched.size() < MediaCore::kSlots) watched.emplace_back(engine);
  Latency latency;
  measure_latency(watched.front().bot, watched.front().listener, 30, latency);
  for (Watched& one : watched) one.learn();

  // Legs are each other's peers, so every sent packet is received.
  const size_t heap_before = mallinfo2().uordblks;
  const std::vector<OpenLeg> legs = open_pairs(engine, pairs);
  for (size_t i = 0; suite && i < legs.size(); ++i) {
    protect(engine, legs[i].handle, protection_of(*suite, i));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const size_t leg_bytes = (mallinfo2().uordblks - heap_before) / legs.size();
  for (Watched& one : watched) one.listener.take();
  const auto skipped = [&] {
    uint64_t ticks = 0;
    for (size_t i = 0; i < engine.thread_count(); ++i) ticks += engine.status(i).skipped_ticks;
    return ticks;
  };
  const uint64_t skipped_before = skipped();
  const Nanos cpu_before = media_cpu(engine);
  const Nanos until = monotonic_now() + seconds * kSecond;
  while (monotonic_now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    for (Watched& one : watched) one.note();
  }
  const Nanos cpu = media_cpu(engine) - cpu_before;
  const uint64_t skipped_ticks = skipped() - skipped_before;

  std::vector<double> deviation_ms = watched.front().deviation_ms();
  std::vector<double> late_us;
  for (const Watched& one : watched) late_us.insert(late_us.end(), one.late_us.begin(), one.late_us.end());
  // Watched legs send but do not receive, so they count half.
  const double whole_legs = static_cast<double>(legs.size()) + static_cast<double>(watched.size()) / 2;
  const double per_leg_us = 1000 * in_milliseconds(cpu) / whole_legs / seconds;
  uint64_t lost = 0;
  for (const OpenLeg& leg : legs) lost += engine.statistics(leg.handle)->packets_lost;
  const MediaThread::Status status = worst_status(engine);
  std::printf(
      "{\"legs\":%zu,\"threads\":%zu,\"legBytes\":%zu,\"skippedTicks\":%llu,\"legCpuUs\":%.1f,\"floorUs\":%."
      "1f,\"pacedFloorUs\":%.1f,\"busy\":%.3f,\"lateP99Us\":%."
      "0f,\"sentLateP50Us\":%.0f,\"sentLateP99Us\":%.0f,\"lost\":%llu,"
      "\"pacingP50Ms\":%.3f,\"pacingP99Ms\":%.3f,\"firstP50Ms\":%.1f,\"firstP99Ms\":%.1f,\"clearP50Ms\":%.1f,"
      "\"clearP99Ms\":%.1f,\"scheduling\":\"%s\"}\n",
      legs.size(), engine.thread_count(), leg_bytes, static_cast<unsigned long long>(skipped_ticks),
      per_leg_us, floors.busy_us, floors.paced_us, status.load.busy, status.late_p99_us,
      quantile(late_us, 0.5), quantile(late_us, 0.99), static_cast<unsigned long long>(lost),
      quantile(deviation_ms, 0.5), quantile(deviation_ms, 0.99), quantile(latency.first_ms, 0.5),
      quantile(latency.first_ms, 0.99), quantile(latency.last_ms, 0.5), quantile(latency.last_ms, 0.99),
      status.scheduling.c_str());
  return 0;
}

}  // namespace
}  // namespace carillon

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 100;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 4;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  return carillon::run(std::clamp(pairs, 1, 4000), std::clamp(seconds, 1, 60),
                       static_cast<size_t>(std::clamp(threads, 1, 64)),
                       carillon::suite_named(argc > 4 ? argv[4] : ""));
}
