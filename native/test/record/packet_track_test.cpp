#include "test/support/recorded_track.hpp"

namespace carillon {

using namespace recorded;  // NOLINT: the names of this file

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

}  // namespace carillon
