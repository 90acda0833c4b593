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

}  // namespace carillon
