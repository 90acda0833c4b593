#include "test/support/recorded_track.hpp"

namespace carillon {

using namespace recorded;  // NOLINT: the names of this file

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
