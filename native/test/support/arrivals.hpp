#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/codec/g711.hpp"
#include "core/codec/g711_codec.hpp"
#include "core/jitter/playout.hpp"
#include "test/support/narrow.hpp"
#include "test/support/signal.hpp"

// Feeds a tone into a jitter buffer with given packet arrival times, and reads a frame every 20 ms.
namespace carillon::test {

struct Line {
  PayloadStore store{kG711Rates.clock, 8000};
  DelayEstimator delays{kG711Rates.clock};
  G711Decoder codec;
  Playout playout{codec};
  std::vector<Sample> heard;
  /// Ticks that this machine misses: packets wait with their arrival times.
  int stalls_at = 0;
  int stalled_for = 0;
  // Values after each frame.
  std::vector<Nanos> delay;
  std::vector<Nanos> target;

  void arrive(int packet, Nanos at, bool talkspurt = false, double hz = 400) {
    const RtpTime timestamp(100'000 + packet * static_cast<int64_t>(kFrameSamples));
    std::vector<uint8_t> audio(kFrameSamples);
    for (size_t i = 0; i < audio.size(); ++i) {
      const double t = (packet * static_cast<double>(kFrameSamples) + static_cast<double>(i)) / kLineRate;
      audio[i] =
          g711_encode(G711Law::mu, static_cast<Sample>(8000 * std::sin(2 * std::numbers::pi * hz * t)));
    }
    const RtpTime end_before = store.end();
    delays.observe(timestamp, at);
    const RtpTicks duration = codec.duration(Coding::pcmu, audio);
    if (store.write(timestamp, duration, Coding::pcmu, audio) == PayloadStore::Written::jumped) {
      store.reset();
      store.write(timestamp, duration, Coding::pcmu, audio);
    }
    playout.arrived({timestamp, duration, at, talkspurt, end_before}, delays);
  }

  /// Packet i is sent at 20 i ms. `delay_of(i)`: its network delay, or nullopt if it is lost.
  void run(int packets, const std::function<std::optional<Nanos>(int)>& delay_of) {
    std::vector<std::pair<Nanos, int>> arrivals;
    for (int i = 0; i < packets; ++i) {
      if (const auto on_way = delay_of(i)) arrivals.emplace_back(i * kFrameTime + *on_way, i);
    }
    std::stable_sort(arrivals.begin(), arrivals.end(), [](auto& a, auto& b) { return a.first < b.first; });
    size_t next = 0;
    for (int tick = 0; tick < packets; ++tick) {
      if (tick >= stalls_at && tick < stalls_at + stalled_for) continue;
      const Nanos now = tick * kFrameTime + 7 * kMillisecond;
      for (; next < arrivals.size() && arrivals[next].first <= now; ++next) {
        const int packet = arrivals[next].second;
        arrive(packet, arrivals[next].first, packet > 0 && !delay_of(packet - 1));
      }
      Frame frame(kNarrowband);
      playout.pop(now, store, delays, frame);
      heard.insert(heard.end(), frame.begin(), frame.end());
      delay.push_back(playout.delay());
      target.push_back(delays.target());
    }
  }
};

}  // namespace carillon::test
