// Signal of delay_bench, its peers, and the search for chirps in the received audio.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/bench_support.hpp"
#include "core/codec/g711.hpp"
#include "core/codec/g722.hpp"
#include "core/rtp/unwrap.hpp"

namespace carillon {

/// Rate at which chirps are generated and detected.
inline constexpr int kRate = 8000;
inline constexpr size_t kPerMs = kRate / 1000;
inline constexpr size_t kChirp = 40 * kPerMs;
/// Not a multiple of a packet, so that chirps begin at all positions in one.
inline constexpr size_t kPeriod = 413 * kPerMs;
inline constexpr double kLowestHz = 500;
inline constexpr double kHighestHz = 3000;
inline constexpr double kLoud = 9000;
/// Correlation from which a chirp counts as found.
inline constexpr double kFound = 0.45;
inline constexpr double kEarliestMs = -20;
inline constexpr double kLatestMs = 330;
/// Interval between the packets of a burst.
inline constexpr double kBurstMs = 2;
/// Real-time priority of the sender, as of a media thread.
inline constexpr int kPriority = 10;
inline constexpr Nanos kWarmUp = 3 * kSecond;

/// Frequency and level of the tone between the chirps, by which drops in level are detected.
inline constexpr double kToneHz = 440;
inline constexpr double kTone = 6000;
/// Length of a window whose level is compared with the median.
inline constexpr size_t kWindow = 20 * kPerMs;

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

inline Side side_of(std::string_view name, int packet_ms) {
  if (name == "PCMA") return {{.coding = Coding::pcma}, 8, packet_ms};
  if (name == "G722") return {{.coding = Coding::g722}, 9, packet_ms};
  if (name == "L16") return {{.coding = Coding::l16, .sample_rate = SampleRate(16'000)}, 97, packet_ms};
  if (name == "L16_8") return {{.coding = Coding::l16, .sample_rate = SampleRate(8000)}, 98, packet_ms};
  if (name == "OPUS") {
    return {{.coding = Coding::opus, .sample_rate = SampleRate(24'000), .fec = true}, 96, packet_ms};
  }
  return {{.coding = Coding::pcmu}, 0, packet_ms};
}

inline std::vector<Sample> chirp() {
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
inline constexpr size_t kApart = 60 * kPerMs;

/// What every peer of a side sends: chirps, and a tone between them, over faint noise, so that no coder
/// pauses.
inline std::vector<std::vector<uint8_t>> say(const Side& side, Nanos time) {
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
struct ReceivedTrack {
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
inline ReceivedTrack track_of(const Peer& peer, double begin_ms, bool bursts) {
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
  ReceivedTrack track;
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
inline double likeness(const std::vector<Sample>& audio, size_t at, const std::vector<Sample>& pattern) {
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

struct FoundChirp {
  double sent_ms = 0;
  double delay_ms = 0;
};

struct Heard20ms {
  size_t windows = 0;
  /// Windows below half of the level of the tone.
  size_t low = 0;
};

/// Compares the level after the chirp at `chirp` with that of the sent tone.
inline void count_low(const std::vector<Sample>& audio, size_t chirp, Heard20ms& out) {
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
inline size_t measure(const ReceivedTrack& track, Nanos phase, Nanos time, std::vector<FoundChirp>& out,
                      Heard20ms& level) {
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

}  // namespace carillon
