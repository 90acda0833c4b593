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
#include "test/support/rounds.hpp"
#include "test/support/signal.hpp"

namespace carillon {

namespace {

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

std::vector<uint8_t> second_of(const Voice& voice) {
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

}  // namespace

TEST_CASE("packet track: stays within 2.5 ms of the sender for an hour with skew, jitter and loss") {
  // One combination lasts an hour, the others ten minutes.
  const int least_seconds = test::rounds(600, 3600);
  for (const double skew : {200e-6, -200e-6}) {
    for (const double tone : {0.0, 4000.0}) {
      for (const bool normal : {false, true}) {
        CAPTURE(skew);
        CAPTURE(tone);
        CAPTURE(normal);
        Recording recording({.skew = skew, .jitter_ms = 15, .normal = normal, .loss = 0.02, .tone = tone});
        const int seconds = skew > 0 && tone > 0 && normal ? 3600 : least_seconds;
        recording.until(seconds * kSecond);
        const auto& counters = recording.track.counters();
        CHECK(recording.displacement_ms(2) < 2.5);
        CHECK(recording.pulses.size() > static_cast<size_t>(seconds) * 97 / 100);
        CHECK(std::fabs(recording.track.clock().drift() - skew) < 10e-6);
        // Only the lost packets are concealed.
        CHECK(counters.late == 0);
        CHECK(counters.ignored == 0);
        CHECK(counters.concealed / kFrameSamples < static_cast<uint64_t>(seconds) + 100);
        CHECK(counters.timelines == 1);
      }
    }
  }
}

TEST_CASE("packet track: is aligned from its first frame, at any position of the first packet") {
  for (int offset = 0; offset < 75; offset += 7) {
    Recording recording({.tone = 8000});
    recording.track.start(offset * kMillisecond);
    recording.started = offset * kMillisecond;
    recording.sender.pulse_at = 160 * 5 + 40;
    recording.until(2 * kSecond);
    CAPTURE(offset);
    REQUIRE(recording.pulses.size() >= 1);
    const double expected = in_milliseconds(kPath) + 105 - offset;
    CHECK(std::fabs(static_cast<double>(recording.pulses.front()) / 8 - expected) < 0.3);
  }
}

TEST_CASE("packet track: corrects the clock without clicks") {
  Recording recording({.skew = 200e-6, .tone = 8000});
  recording.sender.pulse = 0;
  recording.keep_audio = true;
  recording.until(60 * kSecond);
  // 96 samples are inserted in the last minute. A sample that is repeated immediately would be a step.
  int largest = 0;
  for (size_t i = 8000; i + 2 < recording.audio.size(); ++i) {
    const int bend = recording.audio[i] - 2 * recording.audio[i + 1] + recording.audio[i + 2];
    largest = std::max(largest, std::abs(bend));
  }
  // The curvature of the tone, and the quantization of the coding.
  const double step = 2 * std::numbers::pi * 300 / 8000;
  CHECK(largest < 8000 * step * step + 700);
}

TEST_CASE("packet track: uses packets up to a second late, in any order, bit by bit") {
  Recording in_time({.tone = 8000});
  Recording late({.tone = 8000});
  for (Recording* const recording : {&in_time, &late}) recording->keep_audio = true;
  in_time.until(20 * kSecond);
  // Every seventh packet is 900 ms late, and every fifth one 30 ms.
  late.delays = [](int64_t number) {
    if (number % 7 == 3) return 900 * kMillisecond;
    return number % 5 == 2 ? 30 * kMillisecond : Nanos{};
  };
  late.until(20 * kSecond);
  CHECK(late.track.counters().concealed == 0);
  CHECK(late.track.counters().late == 0);
  CHECK(late.audio == in_time.audio);
}

TEST_CASE("packet track: conceals only what never arrived or arrived too late") {
  Recording whole({.tone = 8000});
  Recording recording({.tone = 8000});
  for (Recording* const each : {&whole, &recording}) each->keep_audio = true;
  whole.until(10 * kSecond);
  recording.keeps = [](int64_t number) { return number < 200 || number % 20 != 0; };
  recording.delays = [](int64_t number) { return number == 111 ? 1500 * kMillisecond : Nanos{}; };
  recording.until(10 * kSecond);
  CHECK(recording.track.counters().concealed == 16 * kFrameSamples);
  CHECK(recording.track.counters().late == 1);
  size_t changed = 0;
  for (size_t i = 0; i < whole.audio.size(); ++i) changed += whole.audio[i] != recording.audio[i] ? 1 : 0;
  // A gap, its crossfade and the history of the decoder.
  CHECK(changed < 16 * 2 * kFrameSamples);
  CHECK(recording.audio.size() == whole.audio.size());
}

TEST_CASE("packet track: a stall of 900 ms loses nothing; a longer one loses its first part only") {
  for (const int stall_ms : {900, 1400}) {
    Recording recording({.tone = 8000});
    recording.delays = [stall_ms](int64_t number) {
      const Nanos since = (number - 500) * kFrameTime;
      return since >= Nanos{} && since < stall_ms * kMillisecond ? stall_ms * kMillisecond - since : Nanos{};
    };
    recording.until(30 * kSecond);
    CAPTURE(stall_ms);
    CHECK(recording.track.counters().late == static_cast<uint64_t>(stall_ms == 900 ? 0 : 21));
    CHECK(recording.track.counters().timelines == 1);
    CHECK(recording.displacement_ms(1) < 0.5);
  }
}

TEST_CASE("packet track: a pause of the sender keeps the time") {
  for (const bool clock_runs : {true, false}) {
    CAPTURE(clock_runs);
    Recording recording({.tone = 3000});
    recording.until(5 * kSecond);
    // The sender sends nothing for ten minutes. Some senders also stop their RTP clock during hold.
    constexpr int64_t kPause = 600 * 50;
    const int64_t from = recording.next;
    recording.keeps = [from](int64_t number) { return number < from || number >= from + kPause; };
    recording.sequences_omit = kPause;
    recording.omitted_from = from;
    if (!clock_runs) recording.timestamps_omit = kPause;
    recording.until(660 * kSecond);
    const auto& counters = recording.track.counters();
    CHECK(counters.timelines == (clock_runs ? 1 : 2));
    CHECK(counters.late == 0);
    CHECK(recording.displacement_ms(0) < 0.5);
    CHECK(recording.pulses.size() == 60);
  }
}

TEST_CASE("packet track: comfort noise and keypad events are no loss") {
  Recording recording({.tone = 3000});
  recording.until(2 * kSecond);
  const int64_t from = recording.next;
  recording.keeps = [from](int64_t number) { return number < from || number >= from + 25; };
  int64_t sent = 0;
  recording.before_read = [&] {
    // Events of one press have one timestamp and consecutive sequence numbers.
    const int64_t number = from + sent;
    if (sent == 25 || recording.sender.sent_at(number) > recording.recorded + PacketTrack::kDelay) return;
    ReceivedPacket packet = recording.sender.received(number, recording.sender.sent_at(number) + kPath, {});
    packet.kind = sent < 12 ? Kind::event : Kind::comfort;
    packet.timestamp = RtpTimestamp(recording.sender.first_timestamp + static_cast<uint32_t>(from * 160));
    packet.duration = RtpTicks((sent + 1) * 160);
    recording.track.take(packet);
    ++sent;
  };
  recording.until(10 * kSecond);
  CHECK(sent == 25);
  CHECK(recording.track.counters().concealed == 0);
  CHECK(recording.displacement_ms(0) < 0.5);
}

TEST_CASE("packet track: masks the audio before a key, also if its timestamp advances with each packet") {
  // `timed` is false if telephone-event has another clock than the audio.
  for (const auto& [advances, timed] : {std::pair{false, true}, {true, true}, {false, false}}) {
    CAPTURE(advances);
    CAPTURE(timed);
    Recording recording({.tone = 8000});
    recording.keep_audio = true;
    recording.sender.pulse = 0;
    recording.track.mask_keys();
    recording.until(2 * kSecond);
    constexpr int64_t kPackets = 45;
    const int64_t from = recording.next;
    recording.keeps = [from](int64_t number) { return number < from || number >= from + kPackets; };
    int64_t sent = 0;
    recording.before_read = [&] {
      const int64_t number = from + sent;
      const Nanos now = recording.recorded + PacketTrack::kDelay;
      if (sent == kPackets || recording.sender.sent_at(number) > now) return;
      ReceivedPacket packet = recording.sender.received(number, recording.sender.sent_at(number) + kPath, {});
      packet.kind = Kind::event;
      if (!advances) packet.timestamp = packet.timestamp - RtpTicks(sent * 160);
      packet.duration = RtpTicks((sent + 1) * 160);
      packet.timed = timed;
      if (!timed) packet.timestamp = RtpTimestamp(77);
      recording.track.take(packet);
      ++sent;
    };
    recording.until(6 * kSecond);
    CHECK(sent == kPackets);
    const auto begins = static_cast<size_t>((from * kFrameTime + kPath) / kSampleTime);
    const auto loud = [&](size_t first, size_t count) {
      const auto audio = std::span(recording.audio).subspan(first, count);
      return std::ranges::any_of(audio, [](Sample sample) { return std::abs(sample) > 1000; });
    };
    CHECK(loud(begins - 60 * 8 - 160, 160));
    CHECK_FALSE(loud(begins - 58 * 8, 58 * 8 + kPackets * 160));
    CHECK(loud(begins + 2 * kPackets * 160, 160));
  }
}

TEST_CASE("packet track: packets of any length are recorded at the time of their audio") {
  // The sender sends a packet when it has all its audio. 0: packets of 10 ms; 1: the length changes.
  for (const int64_t frames : {0, 1, 2, 3}) {
    CAPTURE(frames);
    Recording recording({.jitter_ms = 3, .tone = 3000});
    const auto together = [frames](int64_t number) {
      return frames > 1 ? frames : (frames == 1 && number >= 300 ? 3 : 1);
    };
    recording.keeps = [together](int64_t number) { return (number + 1) % together(number) == 0; };
    int64_t sequence = 0;
    recording.encode = [&](int64_t number, ReceivedPacket& packet, std::vector<uint8_t>& octets) {
      packet.sequence = sequence++;
      for (int64_t n = number + 1 - together(number); n <= number; ++n) {
        const Bytes payload = recording.sender.payload(n);
        octets.insert(octets.end(), payload.begin(), payload.end());
      }
      packet.timestamp = packet.timestamp - RtpTicks((together(number) - 1) * 160);
      if (frames != 0) return;
      ReceivedPacket first = packet;
      first.arrival -= kFrameTime / 2;
      first.payload = Bytes(octets).first(octets.size() / 2);
      recording.track.take(first);
      octets.erase(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(octets.size() / 2));
      packet.sequence = sequence++;
      packet.timestamp += RtpTicks(80);
    };
    recording.until(20 * kSecond);
    CHECK(recording.pulses.size() >= 19);
    CHECK(recording.displacement_ms(1) < 2);
    CHECK(recording.track.counters().timelines == 1);
    CHECK(recording.track.counters().concealed == 0);
  }
}

TEST_CASE("packet track: another source continues at the time of its first packet") {
  Recording recording({.tone = 3000});
  recording.until(5 * kSecond);
  // The source changes while audio of the last second waits to be recorded.
  recording.sender.stream = 2;
  recording.sender.first_sequence = 3;
  recording.sender.first_timestamp = 77;
  recording.until(10 * kSecond);
  CHECK(recording.track.counters().timelines == 2);
  CHECK(recording.track.counters().concealed == 0);
  CHECK(recording.pulses.size() == 10);
  CHECK(recording.displacement_ms(0) < 0.5);
}

TEST_CASE("packet track: the codec can change at any packet") {
  Recording recording({.tone = 3000});
  auto encoder = make_encoder({.coding = Coding::g722});
  recording.until(5 * kSecond);
  const int64_t change = recording.next;
  recording.encode = [&](int64_t number, ReceivedPacket& packet, std::vector<uint8_t>& octets) {
    if (number < change) return;
    std::vector<Sample> audio(2 * kFrameSamples);
    if (number % 50 == 0) std::fill_n(audio.begin() + 160, 4, kPulse);
    octets.resize(160);
    encoder->encode(Coding::g722, audio, octets);
    packet.coding = Coding::g722;
    packet.rate = SampleRate(16000);
  };
  recording.until(10 * kSecond);
  CHECK(recording.track.counters().timelines == 2);
  CHECK(recording.displacement_ms(0) < 0.5);
  CHECK(recording.pulses.size() >= 10);
}

TEST_CASE("packet track: removes the look-ahead of the sender's codec") {
  for (const Coding coding : {Coding::g722, Coding::opus}) {
    CAPTURE(properties_of(coding).name);
    auto encoder = make_encoder({.coding = coding, .sample_rate = SampleRate(16000)});
    Recording recording({.tone = 0});
    recording.keep_audio = true;
    recording.encode = [&](int64_t number, ReceivedPacket& packet, std::vector<uint8_t>& octets) {
      // A pulse with its peak in the middle of the first frame of each second.
      std::vector<Sample> audio(2 * kFrameSamples);
      for (size_t i = 0; number % 50 == 0 && i < audio.size(); ++i) {
        const double ms = (static_cast<double>(i) - 160) / 16;
        audio[i] = static_cast<Sample>(kPulse * std::exp(-ms * ms));
      }
      octets.resize(encoder->max_payload());
      octets.resize(encoder->encode(coding, audio, octets).count());
      packet.coding = coding;
      packet.rate = SampleRate(16000);
      const RtpTicks clock = encoder->rates().clock.in(kFrameTime);
      packet.timestamp = RtpTimestamp(static_cast<uint32_t>(number * clock.count()));
    };
    recording.until(5 * kSecond);
    for (size_t second = 1; second < 5; ++second) {
      const auto begins = recording.audio.begin() + static_cast<std::ptrdiff_t>(second * 8000);
      const double peak_ms = static_cast<double>(std::max_element(begins, begins + 8000) - begins) / 8;
      CHECK(std::fabs(peak_ms - in_milliseconds(kPath) - 10) < 0.5);
    }
  }
}

TEST_CASE("packet track: a step of the timestamps moves no audio and loses none") {
  for (const int64_t step_ms : {200, 100, -100, -200, -600}) {
    for (const bool loses : {false, true}) {
      CAPTURE(step_ms);
      CAPTURE(loses);
      Recording recording({.jitter_ms = 5, .tone = 3000});
      recording.encode = [&](int64_t number, ReceivedPacket& packet, std::vector<uint8_t>&) {
        if (number >= 505) packet.timestamp += RtpTicks(step_ms * 8);
      };
      if (loses) recording.keeps = [](int64_t number) { return number != 504; };
      recording.until(20 * kSecond);
      CHECK(recording.displacement_ms(0) < 5);
      CHECK(recording.pulses.size() == 20);
      CHECK(recording.track.counters().concealed <= (loses ? kFrameSamples : 0));
    }
  }
}

TEST_CASE("packet track: another timeline is accepted from packets of 10 ms") {
  Recording recording({.tone = 3000});
  constexpr int64_t kChange = 505;
  recording.encode = [&](int64_t number, ReceivedPacket& packet, std::vector<uint8_t>& octets) {
    packet.sequence = 2 * number;
    if (number >= kChange) packet.timestamp += RtpTicks(40 * 8000);
    const Bytes payload = recording.sender.payload(number);
    octets.assign(payload.begin(), payload.end());
    ReceivedPacket first = packet;
    first.arrival -= kFrameTime / 2;
    first.payload = payload.first(payload.size() / 2);
    recording.track.take(first);
    octets.erase(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(octets.size() / 2));
    ++packet.sequence;
    packet.timestamp += RtpTicks(80);
  };
  recording.until(20 * kSecond);
  CHECK(recording.track.counters().timelines == 2);
  CHECK(recording.pulses.size() == 20);
  CHECK(recording.displacement_ms(0) < 0.5);
}

TEST_CASE("packet track: wrong timestamps have no effect on the recording and need no memory") {
  Recording expected({.tone = 8000});
  Recording recording({.tone = 8000});
  for (Recording* const each : {&expected, &recording}) each->keep_audio = true;
  expected.until(20 * kSecond);
  std::mt19937 random(3);
  int64_t sequence = 0;
  recording.before_read = [&] {
    const Nanos now = recording.recorded + PacketTrack::kDelay;
    if (recording.recorded < kSecond) return;
    const std::vector<uint8_t> octets(random() % 400, 0x11);
    for (int i = 0; i < 3; ++i) {
      ReceivedPacket packet = recording.sender.received(1000 + ++sequence, now, octets);
      packet.timestamp = RtpTimestamp(static_cast<uint32_t>(random()) | 0x0010'0000);
      if (i == 1) packet.timestamp = RtpTimestamp(recording.sender.first_timestamp + 0x7fff'0000U);
      if (i == 2) packet.coding = Coding::missing;
      packet.sequence = recording.sender.first_sequence;
      recording.track.take(packet);
    }
  };
  recording.until(20 * kSecond);
  CHECK(recording.track.counters().ignored + recording.track.counters().late > 2500);
  CHECK(recording.track.counters().timelines == 1);
  CHECK(recording.audio == expected.audio);
}

TEST_CASE("packet track: random packets never stall it") {
  std::mt19937 random(11);
  PacketTrack track(SampleRate(16000));
  std::vector<uint8_t> octets(1500);
  for (auto& octet : octets) octet = static_cast<uint8_t>(random());
  Nanos now{};
  track.start(now);
  constexpr std::array kCodings{Coding::pcmu, Coding::pcma, Coding::g722,
                                Coding::l16,  Coding::opus, Coding::silence};
  for (int i = 0; i < 20'000; ++i) {
    // Some octets change with each packet.
    for (int k = 0; k < 32; ++k) octets[random() % octets.size()] = static_cast<uint8_t>(random());
    ReceivedPacket packet;
    packet.kind = static_cast<Kind>(random() % 3);
    packet.stream = random() % 50 == 0 ? random() : 1;
    packet.sequence = random() % 4 == 0 ? static_cast<int64_t>(random()) : i;
    packet.timestamp =
        RtpTimestamp(random() % 8 == 0 ? static_cast<uint32_t>(random()) : 320U * static_cast<uint32_t>(i));
    packet.duration = RtpTicks(static_cast<int64_t>(random()) - 1000);
    packet.timed = random() % 4 != 0;
    packet.coding = kCodings[random() % 20 == 0 ? random() % kCodings.size() : 0];
    packet.rate = SampleRate(random() % 2 == 0 ? 8000 : 16000);
    packet.arrival = now + Nanos(static_cast<int64_t>(random() % 20'000'000));
    packet.payload = Bytes(octets).first(random() % octets.size());
    track.take(packet);
    if (i % 3 == 0) {
      Frame frame(SampleRate(16000));
      track.read(frame.samples());
      now += kFrameTime;
    }
  }
  CHECK(track.counters().packets > 5000);
}

TEST_CASE("stretch: a tone stays a tone at any length") {
  for (const size_t length : {140U, 158U, 159U, 161U, 162U, 180U}) {
    const auto tone = test::sine(1000, 10'000, kLineRate, length + 2 * kStretchMargin);
    std::vector<Sample> out(kFrameSamples);
    stretch(std::span(tone).subspan(kStretchMargin, length), out);
    const double hz = 1000 * static_cast<double>(length) / kFrameSamples;
    CAPTURE(length);
    CHECK(test::sine_snr_db(out, hz, kLineRate) > 55);
  }
}

}  // namespace carillon
