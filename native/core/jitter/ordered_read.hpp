// Decodes the next section of a store in time order. The codec conceals missing audio.
#pragma once

#include <algorithm>

#include "core/jitter/payload_store.hpp"

namespace carillon {

/// Returns the number of concealed samples.
template <typename Store>
SampleCount read_in_order(const Store& store, RtpTime timestamp, AudioDecoder& codec, std::span<Sample> out) {
  const SessionRates rates = codec.rates();
  SampleCount concealed;
  while (!out.empty()) {
    const typename Store::Run run = store.run_at(timestamp, rates.ticks(SampleCount(out.size())));
    // A section shorter than a sample, caused by a timestamp between two samples, counts as one sample.
    const size_t count = std::clamp<size_t>(rates.samples(run.length).count(), 1, out.size());
    const std::span<Sample> here = out.first(count);
    if (run.part.coding == Coding::missing) {
      codec.conceal(here, run.following);
      concealed += SampleCount(count);
    } else if (run.part.coding == Coding::silence) {
      codec.silence(here);
    } else if (run.part.coding == Coding::comfort) {
      codec.comfort(run.part.payload, here);
    } else {
      codec.decode(run.part, here);
    }
    if (run.part.coding != Coding::comfort) codec.end_comfort(here);
    out = out.subspan(count);
    timestamp += rates.ticks(SampleCount(count));
  }
  return concealed;
}

/// Frames that restore enough decoder state when a crossfade hides the rest. All codecs adapt within 40 ms.
inline constexpr int kBlendedPast = 2;
/// Frames that restore the decoder state when no crossfade is running.
inline constexpr int kWholePast = 10;

/// Feeds the codec the audio before `timestamp` to restore its decoder state.
template <typename Store>
void decode_before(const Store& store, RtpTime timestamp, AudioDecoder& codec, int frames = kBlendedPast) {
  const RtpTicks frame = codec.rates().clock.in(kFrameTime);
  Frame passed_over(codec.rates().sample);
  for (int i = frames; i > 0; --i) {
    read_in_order(store, timestamp - frame * i, codec, passed_over.samples());
  }
}

}  // namespace carillon
