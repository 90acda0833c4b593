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
    size_t count = run.count;
    if (run.coding == Coding::missing) {
      codec.conceal(out.first(count));
      concealed += count;
    } else if (run.coding == Coding::silence) {
      codec.silence(out.first(count));
    } else {
      const Bytes payload = store.payload(timestamp, count);
      count = payload.size();
      codec.decode(run.coding, payload, out.first(count));
    }
    out = out.subspan(count);
    timestamp += static_cast<int64_t>(count);
  }
  return concealed;
}

}  // namespace carillon
