// Measures the cost of legs without sockets, threads or a clock. Pairs of legs are each other's peers in
// virtual time. Intended for instruction counts under callgrind, which are exactly repeatable; see
// native/README.md.
//   core_bench <pairs of legs> <seconds> [sha80 | gcm]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <vector>

#include "bench/core_support.hpp"
#include "bench/srtp_support.hpp"
#include "core/media_core.hpp"
#include "test/support/no_events.hpp"

namespace carillon {
namespace {

/// Packets in transit. Each arrives one millisecond after it was sent.
class Wire : public PacketSink {
 public:
  struct Packet {
    uint16_t from;
    uint16_t to;
    std::vector<uint8_t> bytes;
  };
  explicit Wire(size_t legs) { packets.reserve(legs); }

  void send(LegHandle leg, const Address& to, Bytes packet) override {
    packets.push_back(
        {static_cast<uint16_t>(kFirstPort + leg.value()), to.port, {packet.begin(), packet.end()}});
  }
  void send_rtcp(LegHandle /*leg*/, const Address& /*to*/, Bytes /*packet*/) override {}
  void latched(LegHandle /*leg*/, const std::optional<Address>& /*peer*/) override {}

  static constexpr uint16_t kFirstPort = 10'000;
  std::vector<Packet> packets;
};

/// Returns audio with speech-like bursts and pauses.
AudioClip clip() {
  std::vector<Sample> samples(8000);
  for (size_t i = 0; i < 6000; ++i) {
    const double t = static_cast<double>(i) / 8000;
    const double sum =
        std::sin(2 * std::numbers::pi * 150 * t) + 0.4 * std::sin(2 * std::numbers::pi * 1130 * t);
    samples[i] = static_cast<Sample>(4000 * sum);
  }
  return std::make_shared<const Clip>(Clip{SampleRate(8000), std::move(samples)});
}

int run(uint32_t pairs, int seconds, std::optional<SrtpSuite> suite) {
  const uint32_t legs = 2 * pairs;
  Wire wire(legs);
  NoEvents nobody;
  MediaCore core(wire, nobody);
  const AudioClip voice = clip();
  Nanos now = kSecond;
  for (uint32_t i = 1; i <= legs; ++i) {
    LegConfig config;
    config.handle = LegHandle(i);
    config.ssrc = i;
    auto leg = std::make_unique<Leg>(config);
    LegRemote remote;
    const uint32_t peer = i % 2 == 1 ? i + 1 : i - 1;
    remote.receive.source.signalled = address_of(static_cast<uint16_t>(Wire::kFirstPort + peer));
    remote.receive.telephone_event = remote.send.telephone_event = 101;
    remote.send.sending = true;
    leg->configure(remote, now);
    if (suite) {
      std::unique_ptr<PacketProtection> protection = protection_of(*suite, i - 1);
      leg->protect_with(protection);
    }
    Player::Options options;
    options.handle = PlayerHandle(1);
    options.times = 0;
    auto player = std::make_unique<Player>(options, voice);
    static_cast<void>(leg->add(player));
    core.add_leg(std::move(leg));
  }
  uint64_t packets = 0;
  Digest digest;
  for (int tick = 0; tick < 1000 * seconds; ++tick) {
    for (Wire::Packet& packet : wire.packets) {
      digest.add(packet.bytes);
      if (++packets % 61 == 0) continue;  // lost
      const LegHandle to(static_cast<uint32_t>(packet.to - Wire::kFirstPort));
      core.receive(to, packet.bytes, address_of(packet.from), now);
    }
    wire.packets.clear();
    now += kTick;
    core.tick(now);
    if (tick % kFrameMs != 0) continue;
    for (uint32_t i = 1; i <= legs; ++i) {
      const AudioView heard = core.leg(LegHandle(i))->received();
      digest.add({reinterpret_cast<const uint8_t*>(heard.samples.data()), heard.samples.size_bytes()});
    }
  }
  uint64_t concealed = 0;
  for (uint32_t i = 1; i <= legs; ++i) {
    concealed += core.leg(LegHandle(i))->receive_path().playout().concealed.count();
  }
  std::printf("{\"legs\":%u,\"packets\":%llu,\"concealed\":%llu,\"digest\":\"%016llx\"}\n", legs,
              static_cast<unsigned long long>(packets), static_cast<unsigned long long>(concealed),
              static_cast<unsigned long long>(digest.value()));
  return 0;
}

}  // namespace
}  // namespace carillon

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 20;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 10;
  return carillon::run(static_cast<uint32_t>(std::clamp(pairs, 1, 1000)), std::clamp(seconds, 1, 600),
                       carillon::suite_named(argc > 3 ? argv[3] : ""));
}
