// Decodes the next stretch of a store, in order of time; the codec fills what is missing.
#pragma once

#include "core/jitter/payload_store.hpp"

namespace carillon {

/// Returns the number of samples that had to be concealed.
inline size_t read_in_order(const PayloadStore& store, int64_t timestamp, AudioCodec& codec,
                            std::span<Sample> out) {
  size_t concealed = 0;
  while (!out.empty()) {
    const PayloadStore::Run run = store.run_at(timestamp, out.size());
    const std::span<Sample> here = out.first(run.count);
    if (run.part.coding == Coding::missing) {
      codec.conceal(here, run.following);
      concealed += run.count;
    } else if (run.part.coding == Coding::silence) {
      codec.silence(here);
    } else {
      codec.decode(run.part, here);
    }
    out = out.subspan(run.count);
    timestamp += static_cast<int64_t>(run.count);
  }
  return concealed;
}

}  // namespace carillon
