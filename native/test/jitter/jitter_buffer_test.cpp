#include "core/jitter/jitter_buffer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "test/support/narrow.hpp"

namespace carillon {

namespace {

/// Jitter buffer of a peer that sends G.711 in packets of 20 ms.
struct Peer {
  JitterBuffer buffer{make_decoder({})};
  std::vector<uint8_t> octets = std::vector<uint8_t>(kFrameSamples, uint8_t{0x20});
  uint32_t timestamp = 1000;
  Nanos now = kSecond;

  void audio(int packets) {
    std::vector<Sample> heard(kFrameSamples);
    for (int i = 0; i < packets; ++i) {
      RtpPacket packet;
      packet.timestamp = RtpTimestamp(timestamp);
      packet.payload = octets;
      buffer.store(packet, Coding::pcmu, true, now);
      buffer.pop(now, heard);
      timestamp += kFrameSamples;
      now += kFrameTime;
    }
  }
};

}  // namespace

TEST_SUITE("jitter buffer") {
  TEST_CASE("continues the stream after keys and noise with timestamps that do not belong to it") {
    for (const bool is_key : {true, false}) {
      Peer peer;
      peer.audio(50);
      const uint32_t before = peer.buffer.packets().generation();
      constexpr std::array<uint8_t, 4> kKey{5, 0, 0, 160};
      RtpPacket stray;
      stray.payload = kKey;
      stray.timestamp = RtpTimestamp(peer.timestamp);
      for (int i = 0; i < 3; ++i) {
        stray.timestamp += RtpTicks(0x5000'0000);
        if (is_key) {
          peer.buffer.store_event(stray, true, peer.now);
        } else {
          peer.buffer.store_comfort(stray, true, peer.now);
        }
      }
      peer.audio(50);
      CHECK(peer.buffer.packets().generation() == before);
    }
  }
}

}  // namespace carillon
