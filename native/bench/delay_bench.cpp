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
#include "core/codec/g711.hpp"
#include "core/codec/g722.hpp"
#include "core/leg/player.hpp"
#include "core/room/room.hpp"
#include "core/rtp/unwrap.hpp"
#include "engine/place_handle.hpp"

namespace carillon {
namespace {

/// Rate at which chirps are generated and detected.
constexpr int kRate = 8000;
constexpr size_t kPerMs = kRate / 1000;
constexpr size_t kChirp = 40 * kPerMs;
/// Not a multiple of a packet, so that chirps begin at all positions in one.
constexpr size_t kPeriod = 413 * kPerMs;
constexpr double kLowestHz = 500;
constexpr double kHighestHz = 3000;
constexpr double kLoud = 9000;
/// Correlation from which a chirp counts as found.
constexpr double kFound = 0.45;
constexpr double kEarliestMs = -20;
constexpr double kLatestMs = 330;
/// Interval between the packets of a burst.
constexpr double kBurstMs = 2;
/// Real-time priority of the sender, as of a media thread.
constexpr int kPriority = 10;
constexpr Nanos kWarmUp = 3 * kSecond;

/// Frequency and level of the tone between the chirps, by which drops in level are detected.
constexpr double kToneHz = 440;
constexpr double kTone = 6000;
/// Length of a window whose level is compared with the median.
constexpr size_t kWindow = 20 * kPerMs;

/// Path of the audio between the two legs of a call.
enum class Path : uint8_t { bridge, room, mixed };

struct Network {
  double jitter_ms = 0;
  double loss_percent = 0;
  Nanos stall{};
};

struct Side {
  CodecSpec spec;
  uint8_t payload_type = 0;
  int packet_ms = kFrameMs;
};

Side side_of(std::string_view name, int packet_ms) {
  if (name == "PCMA") return {{.coding = Coding::pcma}, 8, packet_ms};
  if (name == "G722") return {{.coding = Coding::g722}, 9, packet_ms};
  if (name == "L16") return {{.coding = Coding::l16, .sample_rate = SampleRate(16'000)}, 97, packet_ms};
  if (name == "L16_8") return {{.coding = Coding::l16, .sample_rate = SampleRate(8000)}, 98, packet_ms};
  if (name == "OPUS") {
    return {{.coding = Coding::opus, .sample_rate = SampleRate(24'000), .fec = true}, 96, packet_ms};
  }
  return {{.coding = Coding::pcmu}, 0, packet_ms};
}

std::vector<Sample> chirp() {
  std::vector<Sample> out(kChirp);
  const double length = static_cast<double>(kChirp) / kRate;
  for (size_t i = 0; i < kChirp; ++i) {
    const double t = static_cast<double>(i) / kRate;
    const double phase =
        2 * std::numbers::pi * (kLowestHz * t + (kHighestHz - kLowestHz) * t * t / (2 * length));
    const double window = std::sin(std::numbers::pi * t / length);
    out[i] = static_cast<Sample>(std::lround(kLoud * window * std::sin(phase)));
  }
  return out;
}

/// Distance of the tone from the chirps.
constexpr size_t kApart = 60 * kPerMs;

/// What every peer of a side sends: chirps, and a tone between them, over faint noise, so that no coder
/// pauses.
std::vector<std::vector<uint8_t>> say(const Side& side, Nanos time) {
  const auto samples = static_cast<size_t>(time / kMillisecond) * kPerMs;
  std::vector<Sample> audio(samples);
  std::mt19937 random(1);
  for (Sample& sample : audio) sample = static_cast<Sample>(random() % 17) - 8;
  const std::vector<Sample> one = chirp();
  for (size_t at = 0; at + kChirp <= samples; at += kPeriod) {
    for (size_t i = 0; i < kChirp; ++i) audio[at + i] = static_cast<Sample>(audio[at + i] + one[i]);
    for (size_t i = at + kChirp + kApart; i < std::min(samples, at + kPeriod - kApart); ++i) {
      const double phase = 2 * std::numbers::pi * kToneHz * static_cast<double>(i) / kRate;
      audio[i] = static_cast<Sample>(audio[i] + std::lround(kTone * std::sin(phase)));
    }
  }
  const auto encoder = make_encoder(side.spec);
  const SampleRate rate = encoder->rates().sample;
  if (rate.hz() != kRate) audio = resample_whole(audio, kRate, rate.hz());
  std::vector<std::vector<uint8_t>> packets;
  const size_t size = static_cast<size_t>(rate.per_ms()) * static_cast<size_t>(side.packet_ms);
  for (size_t at = 0; at + size <= audio.size(); at += size) {
    std::vector<uint8_t> payload(encoder->max_payload());
    payload.resize(
        encoder->encode(side.spec.coding, std::span<const Sample>(audio).subspan(at, size), payload).count());
    packets.push_back(std::move(payload));
  }
  return packets;
}

struct Heard {
  int64_t arrived_ns = 0;
  uint32_t timestamp = 0;
  std::vector<uint8_t> payload;
};

struct Peer {
  explicit Peer(const Side& own) : side(own) {
    while (!socket.open()) {
      local = kLoopback;
      local.port = next_port();
      socket = UdpSocket::bind(local).socket;
    }
  }
  static uint16_t next_port() {
    static uint16_t port = 20'000;
    return port = static_cast<uint16_t>(port + 2);
  }
  void say(size_t number, const std::vector<uint8_t>& payload) {
    std::array<uint8_t, 2000> packet{};
    const RtpTicks ticks = rates_of(side.spec).clock.in(side.packet_ms * kMillisecond);
    const auto timestamp = static_cast<uint32_t>(static_cast<int64_t>(number) * ticks.count());
    write_rtp_header(
        {false, side.payload_type, static_cast<uint16_t>(number), RtpTimestamp(timestamp), local.port},
        packet);
    std::ranges::copy(payload, packet.begin() + kRtpHeaderBytes);
    socket.send(leg, std::span(packet).first(kRtpHeaderBytes + payload.size()));
  }
  void hear() {
    while (buffer.receive(socket)) {
      const Datagram datagram = buffer.datagram();
      const auto packet = parse_rtp(datagram.bytes);
      if (!packet || packet->payload_type != side.payload_type) continue;
      heard[numbers.extend(packet->sequence)] = {datagram.arrived_wall.count(),
                                                 packet->timestamp.value(),
                                                 {packet->payload.begin(), packet->payload.end()}};
    }
  }

  Side side;
  Address local;
  Address leg;
  UdpSocket socket;
  UdpSocket::Buffer buffer;
  SequenceUnwrapper numbers;
  std::map<int64_t, Heard> heard;
  Nanos phase{};
};

/// Received audio by timestamp at kRate, and the time at which each sample can be played.
struct Track {
  std::vector<Sample> audio;
  std::vector<double> at_ms;  // negative: not received
};

/// Decodes without loss concealment, and so without its delay.
struct PlainDecoder {
  explicit PlainDecoder(const CodecSpec& wanted) : spec(wanted), opus(make_decoder(wanted)) {}
  std::vector<Sample> decode(const std::vector<uint8_t>& payload, int64_t begins) {
    const SessionRates rates = rates_of(spec);
    std::vector<Sample> out(rates.samples(opus->duration(spec.coding, payload)).count());
    if (spec.coding == Coding::pcmu || spec.coding == Coding::pcma) {
      g711_decode(spec.coding == Coding::pcma ? G711Law::a : G711Law::mu, payload, out);
    } else if (spec.coding == Coding::g722) {
      g722.decode(payload, out);
    } else if (spec.coding == Coding::l16) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Sample>(read_u16(payload, 2 * i));
    } else {
      opus->decode({spec.coding, payload, RtpTime(begins), {}}, out);
    }
    return out;
  }
  CodecSpec spec;
  std::unique_ptr<AudioDecoder> opus;
  G722BitDecoder g722;
};

/// `bursts`: a received packet is split into several, which arrive together and play in sequence.
Track track_of(const Peer& peer, double begin_ms, bool bursts) {
  const SessionRates rates = rates_of(peer.side.spec);
  const auto per_ms = static_cast<size_t>(rates.sample.per_ms());
  std::vector<Sample> audio;
  std::vector<std::pair<size_t, std::pair<size_t, double>>> pieces;
  PlainDecoder decoder(peer.side.spec);
  TimestampUnwrapper timestamps;
  std::optional<RtpTime> first;
  double last_arrived_ms = -kLatestMs;
  double last_end_ms = 0;
  for (const auto& [number, packet] : peer.heard) {
    const RtpTime at = timestamps.extend(RtpTimestamp(packet.timestamp));
    if (!first) first = at;
    if (at < *first || at - *first > rates.clock.in(600 * kSecond)) continue;
    const std::vector<Sample> piece = decoder.decode(packet.payload, at.since_zero().count());
    const size_t from = rates.samples(at - *first).count();
    if (audio.size() < from + piece.size()) audio.resize(from + piece.size());
    std::ranges::copy(piece, audio.begin() + static_cast<std::ptrdiff_t>(from));
    const double arrived_ms = static_cast<double>(packet.arrived_ns) / 1e6 - begin_ms;
    const bool in_burst = bursts && arrived_ms - last_arrived_ms < kBurstMs;
    const double at_ms = in_burst ? last_end_ms : arrived_ms;
    pieces.push_back({from, {piece.size(), at_ms}});
    last_arrived_ms = arrived_ms;
    last_end_ms = at_ms + static_cast<double>(piece.size()) / static_cast<double>(per_ms);
  }
  Track track;
  track.audio = rates.sample.hz() == kRate ? audio : resample_whole(audio, rates.sample.hz(), kRate);
  track.at_ms.assign(track.audio.size(), -1);
  for (const auto& [from, rest] : pieces) {
    const size_t begin = from * kPerMs / per_ms;
    for (size_t i = 0; i < rest.first * kPerMs / per_ms && begin + i < track.at_ms.size(); ++i) {
      track.at_ms[begin + i] = rest.second + static_cast<double>(i) / kPerMs;
    }
  }
  return track;
}

/// Returns the normalized correlation of the chirp with the audio at `at`.
double likeness(const std::vector<Sample>& audio, size_t at, const std::vector<Sample>& pattern) {
  if (at + pattern.size() > audio.size()) return 0;
  double product = 0;
  double energy = 1;
  double own = 1;
  for (size_t i = 0; i < pattern.size(); ++i) {
    product += static_cast<double>(audio[at + i]) * pattern[i];
    energy += static_cast<double>(audio[at + i]) * audio[at + i];
    own += static_cast<double>(pattern[i]) * pattern[i];
  }
  return product / std::sqrt(energy * own);
}

struct Found {
  double sent_ms = 0;
  double delay_ms = 0;
};

struct Heard20ms {
  size_t windows = 0;
  /// Windows below half of the level of the tone.
  size_t low = 0;
};

/// Compares the level after the chirp at `chirp` with that of the sent tone.
void count_low(const std::vector<Sample>& audio, size_t chirp, Heard20ms& out) {
  // Inserted or removed frames move the edges of the tone.
  const size_t begin = chirp + kChirp + 2 * kApart;
  const size_t end = std::min(audio.size(), chirp + kPeriod - 2 * kApart);
  for (size_t at = begin; at + kWindow <= end; at += kWindow / 2) {
    double energy = 0;
    for (size_t i = 0; i < kWindow; ++i) energy += static_cast<double>(audio[at + i]) * audio[at + i];
    ++out.windows;
    if (std::sqrt(energy / kWindow) < kTone / std::numbers::sqrt2 / 2) ++out.low;
  }
}

/// Appends the delay of every chirp sent after the warm-up. Returns the number of chirps not found.
size_t measure(const Track& track, Nanos phase, Nanos time, std::vector<Found>& out, Heard20ms& level) {
  const std::vector<Sample> pattern = chirp();
  size_t missing = 0;
  for (size_t at = 0;; at += kPeriod) {
    const double sent_ms = in_milliseconds(phase) + static_cast<double>(at) / kPerMs;
    if (sent_ms > in_milliseconds(kWarmUp + time)) return missing;
    if (sent_ms < in_milliseconds(kWarmUp)) continue;
    double best = 0;
    size_t found = 0;
    for (size_t i = 0; i < track.at_ms.size(); ++i) {
      const double delay = track.at_ms[i] - sent_ms;
      if (track.at_ms[i] < 0 || delay < kEarliestMs || delay > kLatestMs) continue;
      const double like = likeness(track.audio, i, pattern);
      if (like > best) best = like, found = i;
    }
    if (best < kFound) {
      ++missing;
      continue;
    }
    out.push_back({sent_ms, track.at_ms[found] - sent_ms});
    count_low(track.audio, found, level);
  }
}

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

double quantile_of(const std::vector<Found>& found, double at, double from_ms, double until_ms) {
  std::vector<double> delays;
  for (const Found& one : found) {
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

  std::array<std::vector<Found>, 2> found;
  std::array<size_t, 2> missing{};
  std::array<Heard20ms, 2> level;
  for (size_t i = 0; i < peers.size(); ++i) {
    const Track track = track_of(*peers[i], static_cast<double>(wall_begin.count()) / 1e6,
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
