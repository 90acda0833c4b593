// Reads a frame from the store and lets the concealer fill what is missing.
#pragma once

#include "core/dsp/plc.hpp"
#include "core/jitter/sample_store.hpp"

namespace carillon {

/// Returns the number of samples that had to be concealed.
inline size_t read_concealed(const SampleStore& store, int64_t timestamp, PacketLossConcealer& concealer,
                             std::span<Sample> out) {
  size_t concealed = 0;
  for (size_t done = 0; done < out.size();) {
    const int64_t at = timestamp + static_cast<int64_t>(done);
    const SampleStore::Run run = store.run_at(at, out.size() - done);
    const std::span<Sample> part = out.subspan(done, run.count);
    if (run.present) {
      store.copy(at, part);
      concealer.receive(part);
    } else {
      concealer.conceal(part);
      concealed += run.count;
    }
    done += run.count;
  }
  return concealed;
}

}  // namespace carillon
