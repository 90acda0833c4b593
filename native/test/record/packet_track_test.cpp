#include "core/record/packet_track.hpp"

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
#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

using Kind = ReceivedPacket::Kind;

/// Time between sending and the fastest arrival.
constexpr Nanos kPath = 30 * kMillisecond;
constexpr Sample kPulse = 20'000;

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
  std::mt19937 random{7};

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
  [[nodiscard]] std::vector<uint8_t> payload(int64_t number) const {
    std::vector<uint8_t> octets(kFrameSamples);
    for (size_t i = 0; i < octets.size(); ++i) {
      const int64_t at = number * 160 + static_cast<int64_t>(i);
      const double angle = 2 * std::numbers::pi * 300 * static_cast<double>(at % 8000) / 8000;
      auto sample = static_cast<Sample>(tone * std::sin(angle));
      if (at % 8000 == 80) sample = kPulse;
      octets[i] = g711_encode(G711Law::mu, sample);
    }
    return octets;
  }
  [[nodiscard]] ReceivedPacket received(int64_t number, Nanos arrival, Bytes payload) const {
    ReceivedPacket packet;
    packet.stream = 1;
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
    const auto octets = sender.payload(number);
    track.take(sender.received(number, arrival, octets));
  }
  /// Records until this time of recorded audio.
  void until(Nanos end) {
    for (; recorded < end; recorded += kFrameTime) {
      const Nanos now = recorded + PacketTrack::kDelay;
      for (; sender.sent_at(next) <= now; ++next) {
        if (const auto packet = sender.send(next); packet && (!keeps || keeps(next))) on_way.push(*packet);
      }
      while (!on_way.empty() && on_way.top().arrival <= now) {
        take(on_way.top().number, on_way.top().arrival);
        on_way.pop();
      }
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
  int64_t next = 0;
  Nanos recorded{};
  int64_t samples = 0;
  std::vector<int64_t> pulses;
  bool keep_audio = false;
  std::vector<Sample> audio;
};

}  // namespace

TEST_CASE("packet track: stays within 2.5 ms of the sender for an hour with skew, jitter and loss") {
  for (const double skew : {200e-6, -200e-6}) {
    for (const double tone : {0.0, 4000.0}) {
      for (const bool normal : {false, true}) {
        CAPTURE(skew);
        CAPTURE(tone);
        CAPTURE(normal);
        Recording recording({.skew = skew, .jitter_ms = 15, .normal = normal, .loss = 0.02, .tone = tone});
        recording.until(3600 * kSecond);
        const auto& counters = recording.track.counters();
        MESSAGE("displacement ms ", recording.displacement_ms(2), " drift ppm ",
                recording.track.clock().drift() * 1e6, " late ", counters.late, " concealed ",
                counters.concealed / 160, " pulses ", recording.pulses.size());
        CHECK(recording.displacement_ms(2) < 2.5);
        CHECK(recording.pulses.size() > 3500);
        CHECK(counters.late == 0);
        CHECK(counters.ignored == 0);
        CHECK(counters.timelines == 1);
      }
    }
  }
}

}  // namespace carillon
