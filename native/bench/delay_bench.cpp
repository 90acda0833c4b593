// Measures the one-way delay of audio through bridged calls over loopback sockets, in both directions, by
// chirps. The peers' packets pass an impaired network. Prints one JSON object. See bench/delay.ts.
//   delay_bench <coding> <coding> <calls> <seconds> <jitter ms> <loss %> [<packet ms> <packet ms>
//               <path> <stall ms>]
// `path`: `bridge` (default), `room` (a conference of two) or `mixed` (a bridge with a prompt mixed in, which
// needs a playout clock). A stall holds back all packets of the network once, in the middle of the time; the
// delay before it is then compared with the delay from one second after it.
// The delay of a packet is uniform within +-jitter, and negative values count as zero: half of the packets
// arrive on time. A chirp's delay is the time at which a receiver without a jitter buffer can play it, minus
// the time at which a network without jitter would have delivered it. It includes the network's jitter and
// the look-ahead of all codecs.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numbers>
#include <random>
#include <string_view>
#include <thread>

#include "bench/bench_support.hpp"
#include "bench/delay_signal.hpp"
#include "core/codec/g711.hpp"
#include "core/codec/g722.hpp"
#include "core/leg/player.hpp"
#include "core/room/room.hpp"
#include "core/rtp/unwrap.hpp"
#include "engine/place_handle.hpp"

namespace carillon {
namespace {

void open_leg(MediaEngine& engine, Peer& peer, LegHandle& leg) {
  while (true) {
    const uint16_t port = Peer::next_port();
    const auto opened = engine.open_leg(port, {});
    if (opened.handle == LegHandle()) continue;
    peer.leg = kLoopback;
    peer.leg.port = port;
    LegRemote remote;
    remote.receive.source.signalled = peer.local;
    remote.receive.coding = remote.send.coding = peer.side.spec.coding;
    remote.receive.payload_type = remote.send.payload_type = peer.side.payload_type;
    remote.send.packet_ms = peer.side.packet_ms;
    remote.send.sending = true;
    LegCodecs codecs(peer.side.spec, 0);
    codecs.add_transcoding(peer.side.spec);
    engine.at_leg(opened.handle, [remote, codecs = std::move(codecs)](MediaLoop& loop, LegHandle at) mutable {
      if (Leg* const found = loop.core().leg(at)) found->configure(remote, loop.now(), &codecs);
    });
    leg = opened.handle;
    return;
  }
}

/// Connects the two legs of a call. The prompt of a mixed path is silent: it only needs the playout clock.
void connect(MediaEngine& engine, const std::array<LegHandle, 2>& legs, uint32_t number, Path path) {
  if (path == Path::room) {
    const RoomHandle room(kRoomBit | (number + 1));
    engine.open_room(room);
    for (uint32_t i = 0; i < 2; ++i) {
      engine.join(room, legs[i],
                  std::make_unique<RoomMember>(MemberHandle(2 * number + i + 1), MemberFlags{}));
    }
    return;
  }
  engine.bridge(legs[0], legs[1]);
  if (path == Path::bridge) return;
  const auto clip = std::make_shared<const Clip>(Clip{SampleRate(kRate), std::vector<Sample>(kRate)});
  for (const LegHandle leg : legs) {
    Player::Options options{.handle = PlayerHandle(1), .times = 0, .manner = PlayManner::mixed};
    engine.at_leg(leg,
                  [player = std::make_unique<Player>(options, clip)](MediaLoop& loop, LegHandle at) mutable {
                    if (Leg* const found = loop.core().leg(at)) found->add(player);
                  });
  }
}

struct Turn {
  Nanos due;
  size_t peer;
  size_t number;
};

/// Returns the packets of all peers in the order of their arrival. `stall_at`: begin of the stall.
std::vector<Turn> schedule(const std::vector<std::unique_ptr<Peer>>& peers, size_t packets_of_side[2],
                           const Network& network, Nanos stall_at) {
  std::vector<Turn> turns;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> late(-network.jitter_ms, network.jitter_ms);
  std::uniform_real_distribution<double> fate(0, 100);
  for (size_t i = 0; i < peers.size(); ++i) {
    const Nanos packet = peers[i]->side.packet_ms * kMillisecond;
    for (size_t n = 0; n < packets_of_side[i % 2]; ++n) {
      const double jitter_ms = std::max(0.0, network.jitter_ms > 0 ? late(random) : 0);
      if (fate(random) < network.loss_percent) continue;
      Nanos due =
          peers[i]->phase + static_cast<int64_t>(n) * packet + Nanos(static_cast<int64_t>(1e6 * jitter_ms));
      if (network.stall > Nanos{} && due >= stall_at) due = std::max(due, stall_at + network.stall);
      turns.push_back({due, i, n});
    }
  }
  std::ranges::stable_sort(turns, {}, &Turn::due);
  return turns;
}

/// Sends the packets at their times. Returns the processor time of the media thread after the warm-up.
Nanos send_all(MediaEngine& engine, const std::vector<std::unique_ptr<Peer>>& peers,
               const std::vector<Turn>& turns, const std::array<std::vector<std::vector<uint8_t>>, 2>& said,
               Nanos begin) {
  std::atomic<Nanos> before{Nanos{}};
  std::atomic<Nanos> after{Nanos{}};
  std::atomic<bool> done{false};
  // If permitted, other load on the machine then delays the packets no more than it delays a media thread.
  const sched_param priority{kPriority};
  sched_setscheduler(0, SCHED_FIFO, &priority);
  bool warm = false;
  for (const Turn& turn : turns) {
    if (!warm && turn.due >= kWarmUp) {
      warm = true;
      engine.on_thread(0, [&](MediaLoop&) { before = thread_cpu(); });
    }
    const Nanos due = begin + turn.due;
    const timespec at{static_cast<time_t>(due / kSecond), static_cast<long>((due % kSecond).count())};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    peers[turn.peer]->say(turn.number, said[turn.peer % 2][turn.number]);
    peers[turn.peer]->hear();
  }
  engine.on_thread(0, [&](MediaLoop&) {
    after = thread_cpu();
    done = true;
  });
  while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const sched_param plain{};
  sched_setscheduler(0, SCHED_OTHER, &plain);
  for (const auto& peer : peers) peer->hear();
  return after.load() - before.load();
}

double quantile_of(const std::vector<FoundChirp>& found, double at, double from_ms, double until_ms) {
  std::vector<double> delays;
  for (const FoundChirp& one : found) {
    if (one.sent_ms >= from_ms && one.sent_ms < until_ms) delays.push_back(one.delay_ms);
  }
  return quantile(delays, at);
}

int run(const std::array<Side, 2>& sides, int calls, int seconds, const Network& network, Path path) {
  const Nanos time = seconds * kSecond;
  const Nanos stall_at = kWarmUp + time / 2;
  const std::array said{say(sides[0], kWarmUp + time + kSecond), say(sides[1], kWarmUp + time + kSecond)};
  MediaEngine engine(MediaEngine::Drive::thread, kLoopback, [] {});
  std::vector<std::unique_ptr<Peer>> peers;
  std::mt19937 random(7);
  for (int i = 0; i < calls; ++i) {
    std::array<LegHandle, 2> legs;
    for (size_t side = 0; side < 2; ++side) {
      peers.push_back(std::make_unique<Peer>(sides[side]));
      peers.back()->phase =
          Nanos(random() % static_cast<uint64_t>((sides[side].packet_ms * kMillisecond).count()));
      open_leg(engine, *peers.back(), legs[side]);
    }
    connect(engine, legs, static_cast<uint32_t>(i), path);
  }
  size_t packets_of_side[2] = {said[0].size(), said[1].size()};
  const std::vector<Turn> turns = schedule(peers, packets_of_side, network, stall_at);
  const Nanos begin = clock_of(CLOCK_MONOTONIC) + 100 * kMillisecond;
  const Nanos wall_begin = begin + (wall_now() - clock_of(CLOCK_MONOTONIC));
  const Nanos cpu = send_all(engine, peers, turns, said, begin);

  std::array<std::vector<FoundChirp>, 2> found;
  std::array<size_t, 2> missing{};
  std::array<Heard20ms, 2> level;
  for (size_t i = 0; i < peers.size(); ++i) {
    const ReceivedTrack track = track_of(*peers[i], static_cast<double>(wall_begin.count()) / 1e6,
                                         sides[(i % 2) ^ 1].packet_ms > sides[i % 2].packet_ms);
    missing[i % 2] += measure(track, peers[i ^ 1]->phase, time, found[i % 2], level[i % 2]);
  }
  std::printf("{\"callCpuUs\":%.0f,\"ways\":[", 1000 * in_milliseconds(cpu) / calls / (seconds + 1));
  constexpr double kEnd = 1e12;
  const double stall_ms = network.stall > Nanos{} ? in_milliseconds(stall_at) : kEnd;
  const double settled_ms =
      network.stall > Nanos{} ? in_milliseconds(stall_at + network.stall + kSecond) : kEnd;
  for (const size_t way : {size_t{1}, size_t{0}}) {
    const auto& all = found[way];
    std::printf("%s{\"chirps\":%zu,\"missing\":%zu,\"p50Ms\":%.1f,\"p95Ms\":%.1f,\"maxMs\":%.1f",
                way == 1 ? "" : ",", all.size() + missing[way], missing[way], quantile_of(all, 0.5, 0, kEnd),
                quantile_of(all, 0.95, 0, kEnd), quantile_of(all, 1, 0, kEnd));
    std::printf(",\"beforeMs\":%.1f,\"settledMs\":%.1f,\"windows\":%zu,\"lowWindows\":%zu}",
                quantile_of(all, 0.5, 0, stall_ms), quantile_of(all, 0.5, settled_ms, kEnd),
                level[way].windows, level[way].low);
  }
  std::printf("]}\n");
  return 0;
}

Path path_of(std::string_view name) {
  if (name == "room") return Path::room;
  return name == "mixed" ? Path::mixed : Path::bridge;
}

}  // namespace
}  // namespace carillon

int main(int argc, char** argv) {
  using namespace carillon;
  if (argc < 7) return 2;
  const auto packet_ms = [&](int i) { return argc > i ? std::clamp(std::atoi(argv[i]), 10, 60) : kFrameMs; };
  const Network network{std::clamp(std::atof(argv[5]), 0.0, 200.0), std::clamp(std::atof(argv[6]), 0.0, 50.0),
                        (argc > 10 ? std::clamp(std::atoi(argv[10]), 0, 2000) : 0) * kMillisecond};
  return run({side_of(argv[1], packet_ms(7)), side_of(argv[2], packet_ms(8))},
             std::clamp(std::atoi(argv[3]), 1, 500), std::clamp(std::atoi(argv[4]), 1, 600), network,
             path_of(argc > 9 ? argv[9] : "bridge"));
}
