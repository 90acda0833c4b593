// Decodes the next stretch of a store, in order of time; the codec fills what is missing.
#pragma once

#include <algorithm>

#include "core/jitter/payload_store.hpp"

namespace carillon {

/// Returns how much had to be concealed.
inline SampleCount read_in_order(const PayloadStore& store, RtpTime timestamp, AudioDecoder& codec,
                                 std::span<Sample> out) {
  const SessionRates rates = codec.rates();
  SampleCount concealed;
  while (!out.empty()) {
    const PayloadStore::Run run = store.run_at(timestamp, rates.ticks(SampleCount(out.size())));
    // A stretch shorter than a sample, by a timestamp between two of them, is as long as one.
    const size_t count = std::clamp<size_t>(rates.samples(run.length).count(), 1, out.size());
    const std::span<Sample> here = out.first(count);
    if (run.part.coding == Coding::missing) {
      codec.conceal(here, run.following);
      concealed += SampleCount(count);
    } else if (run.part.coding == Coding::silence) {
      codec.silence(here);
    } else {
      codec.decode(run.part, here);
    }
    out = out.subspan(count);
    timestamp += rates.ticks(SampleCount(count));
  }
  return concealed;
}

/// Of 40 ms no codec of ours remembers more than can be heard behind a blend.
inline constexpr int kBlendedPast = 2;
/// Nor of this without one.
inline constexpr int kWholePast = 10;

/// Shows the codec, whose past is another, what lies before `timestamp`.
inline void decode_before(const PayloadStore& store, RtpTime timestamp, AudioDecoder& codec,
                          int frames = kBlendedPast) {
  const RtpTicks frame = codec.rates().clock.in(kFrameTime);
  Frame passed_over(codec.rates().sample);
  for (int i = frames; i > 0; --i) {
    read_in_order(store, timestamp - frame * i, codec, passed_over.samples());
  }
}

}  // namespace carillon
