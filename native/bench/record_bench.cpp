// Measures the recorder of calls with PCMU on both sides in virtual time, without the writer. Prints CPU time
// per call-second; under callgrind, instruction counts are repeatable.
//   record_bench <calls> <seconds> <rate> [skew in ppm]
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "bench/core_support.hpp"
#include "core/codec/g711.hpp"
#include "core/record/recorder.hpp"
#include "core/record/recording_timeline.hpp"

namespace carillon {
namespace {

constexpr size_t kPackets = 500;

/// Returns the payloads of ten seconds with speech-like bursts and noise.
std::vector<uint8_t> payloads() {
  std::vector<Sample> samples(kPackets * kNarrowFrame);
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 30);
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / 8000;
    const double tones =
        std::sin(2 * std::numbers::pi * 150 * t) + 0.4 * std::sin(2 * std::numbers::pi * 1130 * t);
    samples[i] = static_cast<Sample>((i / 6000 % 2 == 0 ? 4000 * tones : 0) + noise(random));
  }
  std::vector<uint8_t> octets(samples.size());
  g711_encode(G711Law::mu, samples, octets);
  return octets;
}

struct Call {
  explicit Call(SampleRate rate)
      : timeline(rate, true, true), recorder({.side = Recorder::Side::both, .stereo = true}, rate) {}
  RecordingTimeline timeline;
  Recorder recorder;
};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

ReceivedPacket packet_at(int64_t number, double skew, Bytes payload) {
  ReceivedPacket packet;
  packet.stream = 1;
  packet.sequence = number;
  packet.timestamp = RtpTimestamp(static_cast<uint32_t>(number * 160));
  packet.arrival = nanos_of(static_cast<double>(number) * 0.02 * (1 + skew), kSecond);
  packet.payload = payload;
  return packet;
}

int run(int calls, int seconds, SampleRate rate, double skew) {
  const std::vector<uint8_t> octets = payloads();
  std::vector<std::unique_ptr<Call>> all;
  for (int i = 0; i < calls; ++i) all.push_back(std::make_unique<Call>(rate));
  Digest digest;
  const double began = cpu_seconds();
  uint64_t samples = 0;
  for (int64_t number = 0; number < int64_t{50} * seconds; ++number) {
    const Bytes payload =
        Bytes(octets).subspan(static_cast<size_t>(number) % kPackets * kNarrowFrame, kNarrowFrame);
    for (const auto& call : all) {
      call->timeline.take(RecordingTimeline::Side::received, packet_at(number, skew, payload));
      call->timeline.take(RecordingTimeline::Side::far_end, packet_at(number, -skew, payload));
      call->timeline.add({rate, {}}, true, number * kFrameTime);
      while (const auto* const sides = call->timeline.next()) {
        const auto block = call->recorder.take(sides->received.samples(), sides->sent.samples());
        samples += block.size();
        if (call == all.front() && number % 10 == 0) {
          digest.add({reinterpret_cast<const uint8_t*>(block.data()), block.size_bytes()});
        }
      }
    }
  }
  const double us = 1e6 * (cpu_seconds() - began) / calls / seconds;
  std::printf("{\"rate\":%d,\"us_per_call_second\":%.1f,\"samples\":%llu,\"digest\":\"%016llx\"}\n",
              rate.hz(), us, static_cast<unsigned long long>(samples),
              static_cast<unsigned long long>(digest.value()));
  return 0;
}

}  // namespace
}  // namespace carillon

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 1;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 60;
  const int rate = argc > 3 ? std::atoi(argv[3]) : 16000;
  const double skew = argc > 4 ? std::atof(argv[4]) / 1e6 : 0;
  return carillon::run(std::clamp(calls, 1, 1000), std::clamp(seconds, 2, 36'000), carillon::SampleRate(rate),
                       skew);
}
