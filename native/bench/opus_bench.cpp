// Measures the cost of calls between G.711 and Opus without sockets, threads or a clock. In each pair of
// bridged legs, both receive the speech of a WAV file (mono, 16 bit, 8 kHz) from their peers in virtual time.
// See native/README.md.
//   opus_bench <speech.wav> <pairs of legs> <seconds> [fec]
// With `fec`, both sides negotiate it. The peers' packets are encoded in advance, so use
// --toggle-collect='*talk_on*' with callgrind. `leastUs`: CPU time of a pair in the cheapest second.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "bench/core_support.hpp"
#include "core/media_core.hpp"
#include "test/support/no_events.hpp"

namespace carillon {
namespace {

constexpr uint16_t kFirstPort = 10'000;
constexpr CodecSpec kNarrow{};
constexpr uint8_t kOpusType = 96;
constexpr CodecSpec kOpus{.coding = Coding::opus, .sample_rate = SampleRate(24'000)};

Address place_of(uint32_t leg) { return address_of(static_cast<uint16_t>(kFirstPort + leg)); }

struct Totals : PacketSink, NoEvents {
  void send(LegHandle /*leg*/, const Address& /*to*/, Bytes packet) override {
    ++packets;
    octets += packet.size();
    digest.add(packet);
  }
  void send_rtcp(LegHandle /*leg*/, const Address& /*to*/, Bytes /*packet*/) override {}
  void latched(LegHandle /*leg*/, const std::optional<Address>& /*peer*/) override {}

  uint64_t packets = 0;
  uint64_t octets = 0;
  Digest digest;
};

std::vector<Sample> read_wav(const char* path) {
  constexpr std::ptrdiff_t kHeader = 44;
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() <= kHeader) return {};
  std::vector<Sample> samples((bytes.size() - kHeader) / 2);
  std::memcpy(samples.data(), bytes.data() + kHeader, samples.size() * 2);
  return samples;
}

using Payloads = std::vector<std::vector<uint8_t>>;

/// Encodes one packet per 20 ms.
Payloads say(const CodecSpec& spec, const std::vector<Sample>& speech) {
  const auto encoder = make_encoder(spec);
  const SampleRate rate = encoder->rates().sample;
  const std::vector<Sample> samples =
      rate == SampleRate(8000) ? speech : resample_whole(speech, 8000, rate.hz());
  Payloads payloads;
  const size_t frame = frame_samples(rate);
  for (size_t at = 0; at + frame <= samples.size(); at += frame) {
    std::vector<uint8_t> payload(encoder->max_payload());
    encoder->carries(rate);
    payload.resize(encoder->encode(spec.coding, std::span(samples).subspan(at, frame), payload).count());
    payloads.push_back(std::move(payload));
  }
  return payloads;
}

std::unique_ptr<Leg> make_leg(uint32_t i, const CodecSpec& spec, Nanos now) {
  LegConfig config;
  config.handle = LegHandle(i);
  config.ssrc = i;
  LegCodecs codecs(spec, 0);
  codecs.add_transcoding(spec);
  auto leg = std::make_unique<Leg>(config, std::move(codecs));
  LegRemote remote;
  remote.receive.source.signalled = place_of(i);
  remote.receive.coding = remote.send.coding = spec.coding;
  remote.receive.payload_type = remote.send.payload_type =
      spec.coding == Coding::opus ? kOpusType : uint8_t{0};
  remote.send.sending = true;
  leg->configure(remote, now);
  return leg;
}

struct Talk {
  MediaCore core;
  uint32_t legs;
  std::array<Payloads, 2> said;
  std::array<uint8_t, 2> payload_types{0, kOpusType};
  int64_t frame = 0;
  Nanos now = kSecond;
};

/// Each peer sends a frame, slightly later than the previous peer.
__attribute__((noinline)) void talk_on(Talk& talk, int64_t frames) {
  std::array<uint8_t, 1500> packet;
  for (const int64_t until = talk.frame + frames; talk.frame < until; ++talk.frame) {
    for (uint32_t tick = 0; tick < kFrameMs; ++tick) {
      for (uint32_t leg = 1 + tick; leg <= talk.legs; leg += kFrameMs) {
        const size_t side = leg % 2;
        const Payloads& said = talk.said[side];
        const auto& payload = said[static_cast<size_t>(talk.frame + 13 * leg) % said.size()];
        const RtpTimestamp timestamp(static_cast<uint32_t>(talk.frame) * (side == 0 ? 160 : 960));
        write_rtp_header({false, talk.payload_types[side], static_cast<uint16_t>(talk.frame), timestamp, leg},
                         packet);
        std::ranges::copy(payload, packet.begin() + kRtpHeaderBytes);
        talk.core.receive(LegHandle(leg), std::span(packet).first(kRtpHeaderBytes + payload.size()),
                          place_of(leg), talk.now);
      }
      talk.now += kTick;
      talk.core.tick(talk.now);
    }
  }
}

double cpu_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e3;
}

int run(const char* path, uint32_t pairs, int seconds, bool fec) {
  const std::vector<Sample> speech = read_wav(path);
  if (speech.empty()) return 1;
  Totals totals;
  CodecSpec peer = kOpus;
  peer.fec = fec;
  Talk talk{.core = MediaCore(totals, totals),
            .legs = 2 * pairs,
            .said = {say(kNarrow, speech), say(peer, speech)}};
  for (uint32_t i = 1; i <= talk.legs; ++i)
    talk.core.add_leg(make_leg(i, i % 2 == 0 ? kNarrow : peer, talk.now));
  for (uint32_t i = 1; i < talk.legs; i += 2) talk.core.bridge(LegHandle(i), LegHandle(i + 1));
  // Wait until narrow audio is encoded with reduced bandwidth.
  constexpr int64_t kSettle = 300;
  constexpr int64_t kSecondFrames = 50;
  talk_on(talk, kSettle);
  totals.packets = totals.octets = 0;
  double least = 0;
  for (int i = 0; i < seconds; ++i) {
    const double before = cpu_us();
    talk_on(talk, kSecondFrames);
    const double us = (cpu_us() - before) / pairs;
    if (i == 0 || us < least) least = us;
  }
  std::printf("{\"pairs\":%u,\"packets\":%llu,\"octets\":%llu,\"digest\":\"%016llx\",\"leastUs\":%.0f}\n",
              pairs, static_cast<unsigned long long>(totals.packets),
              static_cast<unsigned long long>(totals.octets),
              static_cast<unsigned long long>(totals.digest.value()), least);
  return 0;
}

}  // namespace
}  // namespace carillon

int main(int argc, char** argv) {
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 20;
  const int seconds = argc > 3 ? std::atoi(argv[3]) : 10;
  return carillon::run(argc > 1 ? argv[1] : "", static_cast<uint32_t>(std::clamp(pairs, 1, 1000)),
                       std::clamp(seconds, 1, 600), argc > 4);
}
