// Measures bridged calls over real loopback sockets: what relaying a packet costs and how much later it goes
// on, and prints one JSON object. See bench/media.ts.
//   relay_bench <calls> <seconds>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <thread>

#include "bench/bench_support.hpp"

namespace carillon {
namespace {

uint16_t next_port() {
  static uint16_t port = 20'000;
  return port = static_cast<uint16_t>(port + 2);
}

/// The far side of one leg: says a packet each 20 ms that bears its time, and hears those of the other peer.
struct Peer {
  Peer() {
    while (!socket.open()) {
      local = kLoopback;
      local.port = next_port();
      socket = UdpSocket::bind(local).socket;
    }
  }

  void say() {
    std::array<uint8_t, kPacketBytes> packet{};
    write_rtp_header(
        {false, 0, static_cast<uint16_t>(said), RtpTimestamp(said * uint32_t{kNarrowFrame}), local.port},
        packet);
    const int64_t now = wall_now().count();
    std::memcpy(&packet[kRtpHeaderBytes], &now, sizeof(now));
    socket.send(leg, packet);
    ++said;
  }
  void hear(std::vector<double>& delays_ms) {
    while (buffer.receive(socket)) {
      const Datagram datagram = buffer.datagram();
      int64_t at = 0;
      if (datagram.bytes.size() != kPacketBytes) continue;
      std::memcpy(&at, &datagram.bytes[kRtpHeaderBytes], sizeof(at));
      // Other packets are silence of the engine's own.
      if (abs(datagram.arrived_wall - Nanos(at)) > kSecond) continue;
      ++heard;
      delays_ms.push_back(in_milliseconds(datagram.arrived_wall - Nanos(at)));
    }
  }

  Address local;
  Address leg;
  UdpSocket socket;
  UdpSocket::Buffer buffer;
  uint32_t said = 0;
  uint32_t heard = 0;
};

/// One leg of the engine for a peer.
LegHandle open_leg(MediaEngine& engine, Peer& peer) {
  while (true) {
    const uint16_t port = next_port();
    const auto opened = engine.open_leg(port, {});
    if (opened.handle == LegHandle()) continue;
    peer.leg = kLoopback;
    peer.leg.port = port;
    LegRemote remote;
    remote.receive.source.signalled = peer.local;
    remote.send.sending = true;
    engine.at_leg(opened.handle, [remote](MediaLoop& loop, LegHandle at) {
      if (Leg* const found = loop.core().leg(at)) found->configure(remote, loop.now());
    });
    return opened.handle;
  }
}

/// Every peer at a moment of its own in the frame, for so long. Delays of the packets are added.
void talk(std::vector<std::unique_ptr<Peer>>& peers, Nanos time, std::vector<double>& delays_ms) {
  std::mt19937 random(1);
  struct Turn {
    Nanos phase;
    Peer* peer;
  };
  std::vector<Turn> turns;
  for (const auto& peer : peers) turns.push_back({Nanos(random() % kFrameTime.count()), peer.get()});
  std::ranges::sort(turns, {}, &Turn::phase);
  const Nanos begin = clock_of(CLOCK_MONOTONIC) + kFrameTime;
  for (Nanos frame{}; frame < time; frame += kFrameTime) {
    for (const Turn& turn : turns) {
      const Nanos due = begin + frame + turn.phase;
      const timespec at{static_cast<time_t>(due / kSecond), static_cast<long>((due % kSecond).count())};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
      turn.peer->hear(delays_ms);
      turn.peer->say();
    }
  }
}

int run(int calls, int seconds) {
  MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [] {});
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < calls; ++i) {
    std::array<LegHandle, 2> legs;
    for (LegHandle& leg : legs) {
      peers.push_back(std::make_unique<Peer>());
      leg = open_leg(engine, *peers.back());
    }
    engine.bridge(legs[0], legs[1]);
  }
  std::vector<double> delays_ms;
  talk(peers, kSecond, delays_ms);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (const auto& peer : peers) {
    peer->hear(delays_ms);
    peer->heard = 0;
  }
  delays_ms.clear();
  delays_ms.reserve(static_cast<size_t>(calls) * 2 * 50 * static_cast<size_t>(seconds));
  const uint32_t said_before = peers[0]->said;
  std::atomic<Nanos> before{Nanos{}};
  std::atomic<Nanos> after{Nanos{}};
  std::atomic<bool> done{false};
  engine.on_thread(0, [&](MediaLoop&) { before = thread_cpu(); });
  talk(peers, seconds * kSecond, delays_ms);
  engine.on_thread(0, [&](MediaLoop&) {
    after = thread_cpu();
    done = true;
  });
  while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  uint64_t lost = 0;
  for (const auto& peer : peers) peer->hear(delays_ms);
  for (size_t i = 0; i < peers.size(); ++i) lost += peers[i ^ 1]->said - said_before - peers[i]->heard;
  const double cpu_us = 1000 * in_milliseconds(after.load() - before.load()) / calls / seconds;
  const size_t packets = delays_ms.size();
  std::printf(
      "{\"calls\":%d,\"callCpuUs\":%.1f,\"packets\":%zu,\"lost\":%llu,\"delayP50Ms\":%.3f,\"delayP99Ms\":%."
      "3f,"
      "\"delayMaxMs\":%.3f}\n",
      calls, cpu_us, packets, static_cast<unsigned long long>(lost), quantile(delays_ms, 0.5),
      quantile(delays_ms, 0.99), quantile(delays_ms, 1));
  return 0;
}

}  // namespace
}  // namespace carillon

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 100;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 4;
  return carillon::run(std::clamp(calls, 1, 2000), std::clamp(seconds, 1, 600));
}
