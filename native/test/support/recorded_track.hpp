// Sender of RTP packets, and the recording of its packets.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <queue>
#include <random>
#include <vector>

#include "core/codec/g711.hpp"
#include "core/record/packet_track.hpp"
#include "test/support/narrow.hpp"
#include "test/support/rounds.hpp"
#include "test/support/signal.hpp"

namespace carillon::recorded {

using Kind = ReceivedPacket::Kind;

/// Time between sending and the fastest arrival.
constexpr Nanos kPath = 30 * kMillisecond;
constexpr Sample kPulse = 20'000;

struct Voice {
  double tone = 0;
  Sample pulse = 0;
  int64_t pulse_at = 0;
  friend bool operator==(const Voice&, const Voice&) = default;
};

inline std::vector<uint8_t> second_of(const Voice& voice) {
  std::vector<Sample> audio(8000);
  for (size_t i = 0; i < audio.size(); ++i) {
    const double angle = 2 * std::numbers::pi * 300 * static_cast<double>(i) / 8000;
    audio[i] = static_cast<Sample>(voice.tone * std::sin(angle));
  }
  if (voice.pulse != 0) audio[static_cast<size_t>(voice.pulse_at)] = voice.pulse;
  std::vector<uint8_t> octets(audio.size());
  g711_encode(G711Law::mu, audio, octets);
  return octets;
}

/// Sender with its own clock: a pulse every second, over a tone.
struct Sender {
  double skew = 0;
  /// Adds delays of 0 to this, or the magnitude of a normal distribution with this deviation.
  double jitter_ms = 0;
  bool normal = false;
  double loss = 0;
  double tone = 0;
  uint32_t first_timestamp = 0xffff'0000;
  int64_t first_sequence = 65'000;
  uint64_t stream = 1;
  Sample pulse = kPulse;
  /// Sample of each second that is the pulse.
  int64_t pulse_at = 80;
  std::mt19937 random{7};
  /// Payloads of a second, and their audio.
  Voice voice{};
  std::vector<uint8_t> octets{};

  struct Packet {
    int64_t number = 0;
    Nanos arrival{};
    friend bool operator>(const Packet& a, const Packet& b) { return a.arrival > b.arrival; }
  };

  [[nodiscard]] Nanos sent_at(int64_t number) const {
    return nanos_of(static_cast<double>(number) * 0.02 * (1 + skew), kSecond);
  }
  /// Returns the packet with its delay, or nullopt if it is lost.
  std::optional<Packet> send(int64_t number) {
    const double drawn = std::uniform_real_distribution<double>(0, 1)(random);
    const double delay = normal ? std::fabs(std::normal_distribution<double>(0, jitter_ms)(random))
                                : std::uniform_real_distribution<double>(0, jitter_ms)(random);
    if (drawn < loss) return std::nullopt;
    return Packet{number, sent_at(number) + kPath + nanos_of(delay, kMillisecond)};
  }
  /// The audio repeats every second.
  [[nodiscard]] Bytes payload(int64_t number) {
    if (const Voice now{tone, pulse, pulse_at}; now != voice || octets.empty()) {
      voice = now;
      octets = second_of(voice);
    }
    return Bytes(octets).subspan(static_cast<size_t>(number % 50) * kFrameSamples, kFrameSamples);
  }
  [[nodiscard]] ReceivedPacket received(int64_t number, Nanos arrival, Bytes payload) const {
    ReceivedPacket packet;
    packet.stream = stream;
    packet.sequence = first_sequence + number;
    packet.timestamp = RtpTimestamp(first_timestamp + static_cast<uint32_t>(number * 160));
    packet.arrival = arrival;
    packet.payload = payload;
    return packet;
  }
};

/// Records a sender. The recorded time begins at 0.
struct Recording {
  explicit Recording(Sender given) : sender(given) { track.start({}); }

  void take(int64_t number, Nanos arrival) {
    ReceivedPacket packet = sender.received(number, arrival, sender.payload(number));
    if (number >= omitted_from) {
      packet.sequence -= sequences_omit;
      packet.timestamp = packet.timestamp - RtpTicks(timestamps_omit * 160);
    }
    std::vector<uint8_t> octets;
    if (encode) encode(number, packet, octets);
    if (!octets.empty()) packet.payload = octets;
    track.take(packet);
  }
  /// Records until this time of recorded audio.
  void until(Nanos end) {
    for (; recorded < end; recorded += kFrameTime) {
      const Nanos now = started + recorded + PacketTrack::kDelay;
      for (; sender.sent_at(next) <= now; ++next) {
        auto packet = sender.send(next);
        if (!packet || (keeps && !keeps(next))) continue;
        if (delays) packet->arrival += delays(next);
        on_way.push(*packet);
      }
      while (!on_way.empty() && on_way.top().arrival <= now) {
        take(on_way.top().number, on_way.top().arrival);
        on_way.pop();
      }
      if (before_read) before_read();
      read();
    }
  }
  void read() {
    Frame frame(kNarrowband);
    track.read(frame.samples());
    for (size_t i = 0; i < frame.size(); ++i) {
      if (std::abs(frame[i]) > kPulse / 2) pulses.push_back(samples + static_cast<int64_t>(i));
    }
    samples += static_cast<int64_t>(frame.size());
    if (keep_audio) audio.insert(audio.end(), frame.begin(), frame.end());
  }

  /// Returns the largest displacement of a pulse in ms, from this second on.
  [[nodiscard]] double displacement_ms(int from_second) const {
    // Concealment can repeat a pulse, so the nearest one of a second counts.
    std::map<double, double> nearest;
    for (const int64_t pulse : pulses) {
      const double at_ms = static_cast<double>(pulse) / 8;
      const double path_ms = in_milliseconds(kPath) + 10;
      const double second = std::round((at_ms - path_ms) / 1000 / (1 + sender.skew));
      if (second < from_second) continue;
      const double away = std::fabs(at_ms - path_ms - second * 1000 * (1 + sender.skew));
      nearest.try_emplace(second, away);
      nearest[second] = std::min(nearest[second], away);
    }
    double largest = 0;
    for (const auto& [second, away] : nearest) largest = std::max(largest, away);
    return largest;
  }

  Sender sender;
  PacketTrack track{kNarrowband};
  std::priority_queue<Sender::Packet, std::vector<Sender::Packet>, std::greater<>> on_way;
  std::function<bool(int64_t)> keeps;
  std::function<Nanos(int64_t)> delays;
  std::function<void()> before_read;
  std::function<void(int64_t, ReceivedPacket&, std::vector<uint8_t>&)> encode;
  /// Numbers and packets' times that the sender leaves out from a packet on.
  int64_t omitted_from = 1'000'000'000;
  int64_t sequences_omit = 0;
  int64_t timestamps_omit = 0;
  int64_t next = 0;
  Nanos recorded{};
  Nanos started{};
  int64_t samples = 0;
  std::vector<int64_t> pulses;
  bool keep_audio = false;
  std::vector<Sample> audio;
};

}  // namespace carillon::recorded
